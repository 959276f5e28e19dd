#include "symbol/source_frames.h"

#include "base/memory.h"
#include "symbol/object.h"

#include <stdlib.h>

struct source_frames {
    struct object *object;
    struct arena names; /* of files, which are not asked for */
    /* The newest range that was asked for. */
    struct source_range range;
    struct function_declaration declaration;
    struct inlined_code code;
};

struct source_frames *source_frames_open(const struct image_file *file)
{
    struct source_frames *frames = memory_allocate_zeroed(sizeof *frames);
    frames->object = object_open(file);
    return frames;
}

void source_frames_close(struct source_frames *frames)
{
    if (!frames)
        return;
    inlined_code_free(&frames->code);
    object_close(frames->object);
    arena_free(&frames->names);
    free(frames);
}

static void go_to_range(struct source_frames *frames, const struct source_range *range)
{
    if (frames->range.start == range->start && frames->range.end == range->end &&
        frames->range.entry == range->entry)
        return;
    inlined_code_free(&frames->code);
    frames->range = *range;
    frames->declaration = object_declaration(frames->object, range->entry);
    frames->code = object_inlined_code(frames->object, range->start, range->end);
}

/* Adds the frames of what is inlined down to `index`; `line` and `discriminator` are of the code in it. */
static void add_frames(struct source_frames *frames, inlined_index index, uint32_t line,
                       uint32_t discriminator, struct array *found)
{
    if (index == 0) {
        *(struct source_frame *)array_add(found) = (struct source_frame){
            frames->declaration.symbol, frames->declaration.line, line, discriminator};
        return;
    }
    const struct inlined_nesting *nesting = array_at(&frames->code.nesting, index);
    const struct inlined_call *call = array_at(&frames->code.calls, index);
    struct source_line declared = object_inlined_line(frames->object, call->origin, &frames->names);
    add_frames(frames, nesting->parent, call->line, call->discriminator, found);
    *(struct source_frame *)array_add(found) =
        (struct source_frame){call->symbol, declared.line, line, discriminator};
}

bool source_frames_find(struct source_frames *frames, const struct source_range *range,
                        uint64_t address, struct array *found)
{
    go_to_range(frames, range);
    struct source_line line = object_line(frames->object, address, SOURCE_ROW_LAST, &frames->names);
    if (!frames->declaration.symbol)
        return false;
    const struct array *runs = &frames->code.runs;
    const struct inlined_run *run = inlined_runs_find(runs->elements, runs->count, address);
    add_frames(frames, run ? run->innermost : 0, line.line,
               object_discriminator(frames->object, address), found);
    return true;
}

const char *source_frames_symbol(struct source_frames *frames, uint64_t entry)
{
    return object_declaration(frames->object, entry).symbol;
}
