/* Sample profile of LLVM in its text form: `clang -fprofile-sample-use=FILE`, llvm-profdata.
 *
 * Of the program and the libraries that are its own. A function has a row for each of its lines that ran, counted from the line of its
 * declaration: the most that an instruction of that line ran. Inlined functions are inside of the
 * line that calls them. Rows of calls name what was called in the same object. The numbers are
 * those of executions, not of samples. Code without debug information is left out.
 *
 * Discriminators are read as LLVM encodes them: the base one distinguishes the code of a line, the
 * duplication factor says how many iterations of an unrolled loop an instruction stands for.
 *
 * Source: "Sample Profile Text Format" in clang's manual; SampleProf.h, and DebugInfoMetadata.h
 * (getBaseDiscriminatorFromDiscriminator, getDuplicationFactorFromDiscriminator), of LLVM 14.
 */
#include "base/memory.h"
#include "counts/counts_export.h"
#include "symbol/source_frames.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { OFFSET_MASK = 0xffff }; /* lines before the declaration wrap around */

/* A function, or one that is inlined at a place of another. */
struct profile {
    const char *symbol;
    uint32_t offset, discriminator; /* of the place */
    uint64_t head;                  /* calls; of functions that are not inlined */
    uint64_t total;     /* bytes of code that ran, inlined code included: as llvm-profgen has it */
    struct array lines; /* struct profile_line */
    struct array inlined; /* struct profile * */
};

struct profile_line {
    uint32_t offset, discriminator;
    uint64_t count;
    struct array targets; /* struct profile_target */
};

struct profile_target {
    const char *symbol;
    uint64_t count;
};

/* The object that the newest instruction was in. */
struct profiled_object {
    const struct image_file *file;
    struct source_frames *frames;
};

struct profiler {
    const struct code_counts *counts;
    struct array by_target; /* code_counts_by_target */
    struct array objects;   /* struct profiled_object */
    struct array functions; /* struct profile *, by function_id; NULL: it has none */
    struct array frames;    /* struct source_frame, of an instruction */
};

/* ---- Discriminators ---- */

static uint32_t prefix_decoded(uint32_t encoded)
{
    if (encoded & 1)
        return 0;
    encoded >>= 1;
    return encoded & 0x20 ? (encoded >> 1 & 0xfe0) | (encoded & 0x1f) : encoded & 0x1f;
}

static uint32_t base_discriminator(uint32_t discriminator)
{
    return prefix_decoded(discriminator);
}

static uint32_t next_component(uint32_t discriminator)
{
    if (discriminator & 1)
        return discriminator >> 1;
    return discriminator >> (discriminator & 0x40 ? 14 : 7);
}

static uint32_t duplication_factor(uint32_t discriminator)
{
    uint32_t factor = prefix_decoded(next_component(discriminator));
    return factor > 0 ? factor : 1;
}

/* ---- Profiles ---- */

static struct profile *profile_new(const char *symbol, uint32_t offset, uint32_t discriminator)
{
    struct profile *made = memory_allocate(sizeof *made);
    *made = (struct profile){
        .symbol = symbol,
        .offset = offset,
        .discriminator = discriminator,
        .lines = array_of(sizeof(struct profile_line)),
        .inlined = array_of(sizeof(struct profile *)),
    };
    return made;
}

static void profile_free(struct profile *profile)
{
    if (!profile)
        return;
    for (size_t i = 0; i < profile->lines.count; i++)
        array_free(&((struct profile_line *)array_at(&profile->lines, i))->targets);
    for (size_t i = 0; i < profile->inlined.count; i++)
        profile_free(*(struct profile **)array_at(&profile->inlined, i));
    array_free(&profile->lines);
    array_free(&profile->inlined);
    free(profile);
}

static struct profile_line *line_at(struct profile *profile, uint32_t offset,
                                    uint32_t discriminator)
{
    for (size_t i = profile->lines.count; i-- > 0;) {
        struct profile_line *line = array_at(&profile->lines, i);
        if (line->offset == offset && line->discriminator == discriminator)
            return line;
    }
    struct profile_line *added = array_add(&profile->lines);
    *added =
        (struct profile_line){offset, discriminator, 0, array_of(sizeof(struct profile_target))};
    return added;
}

static struct profile *inlined_at(struct profile *profile, uint32_t offset, uint32_t discriminator,
                                  const char *symbol)
{
    for (size_t i = profile->inlined.count; i-- > 0;) {
        struct profile *inlined = *(struct profile **)array_at(&profile->inlined, i);
        if (inlined->offset == offset && inlined->discriminator == discriminator &&
            strcmp(inlined->symbol, symbol) == 0)
            return inlined;
    }
    struct profile *added = profile_new(symbol, offset, discriminator);
    *(struct profile **)array_add(&profile->inlined) = added;
    return added;
}

static void add_target(struct profile_line *line, const char *symbol, uint64_t count)
{
    for (size_t i = 0; i < line->targets.count; i++) {
        struct profile_target *target = array_at(&line->targets, i);
        if (strcmp(target->symbol, symbol) == 0) {
            target->count += count;
            return;
        }
    }
    *(struct profile_target *)array_add(&line->targets) = (struct profile_target){symbol, count};
}

/* ---- From counts ---- */

static struct source_frames *frames_of(struct profiler *profiler, const struct image_file *file)
{
    for (size_t i = profiler->objects.count; i-- > 0;) {
        const struct profiled_object *known = array_at(&profiler->objects, i);
        if (known->file == file)
            return known->frames;
    }
    struct source_frames *frames = source_frames_open(file);
    *(struct profiled_object *)array_add(&profiler->objects) =
        (struct profiled_object){file, frames};
    return frames;
}

/* How often the function was called, or jumped to from another. */
static uint64_t count_calls(const struct profiler *profiler, const struct code_place_key *entry,
                            function_id function)
{
    uint64_t count = 0;
    const struct array *all = &profiler->by_target;
    for (size_t i = code_counts_first(all, entry); i < all->count; i++) {
        const struct branch_count *branch = array_at(all, i);
        if (code_place_compare(&branch->from, entry) != 0)
            break;
        if (branch->kind == STEP_CALL ||
            code_counts_function(profiler->counts, &branch->to).function != function)
            count += branch->count;
    }
    return count;
}

static struct profile *profile_of(struct profiler *profiler, function_id function,
                                  const char *symbol)
{
    while (profiler->functions.count <= function)
        array_add(&profiler->functions);
    struct profile **slot = array_at(&profiler->functions, function);
    if (!*slot)
        *slot = profile_new(symbol, 0, 0);
    return *slot;
}

static uint32_t offset_of(const struct source_frame *frame)
{
    return (frame->line - frame->declared_line) & OFFSET_MASK;
}

static void add_targets(struct profiler *profiler, const struct code_place_key *at,
                        struct profile_line *line)
{
    const struct array *all = &profiler->counts->branches;
    for (size_t i = code_counts_first(all, at); i < all->count; i++) {
        const struct branch_count *branch = array_at(all, i);
        uint64_t entry;
        if (code_place_compare(&branch->from, at) != 0)
            break;
        if (branch->kind != STEP_CALL || branch->to.file != at->file ||
            !image_file_address(at->file, branch->to.offset, &entry))
            continue;
        const char *symbol = source_frames_symbol(frames_of(profiler, at->file), entry);
        if (symbol)
            add_target(line, symbol, branch->count);
    }
}

static void add_instruction(struct profiler *profiler, const struct instruction_count *at)
{
    struct function_bounds bounds = code_counts_function(profiler->counts, &at->at);
    const struct function *function = symbols_function(profiler->counts->symbols, bounds.function);
    struct source_range range = {.entry = function->start};
    uint64_t address;
    profiler->frames.count = 0;
    if (function->owner != CODE_OF_PROGRAM || !at->at.file->elf ||
        !image_file_address(at->at.file, at->at.offset, &address))
        return;
    range.start = address - (at->at.offset - bounds.start);
    range.end = address + (bounds.end - at->at.offset);
    if (!source_frames_find(frames_of(profiler, at->at.file), &range, address, &profiler->frames))
        return;
    const struct source_frame *frames = profiler->frames.elements;
    size_t last = profiler->frames.count - 1;
    struct profile *profile = profile_of(profiler, bounds.function, frames[0].symbol);
    if (address == function->start)
        profile->head = count_calls(profiler, &at->at, bounds.function);
    uint64_t count = at->count * duplication_factor(frames[last].discriminator);
    profile->total += count * at->size;
    for (size_t i = 0; i < last; i++) {
        profile = inlined_at(profile, offset_of(&frames[i]),
                             base_discriminator(frames[i].discriminator), frames[i + 1].symbol);
        profile->total += count * at->size;
    }
    if (frames[last].line == 0)
        return; /* the compiler's own code */
    struct profile_line *line =
        line_at(profile, offset_of(&frames[last]), base_discriminator(frames[last].discriminator));
    if (line->count < count)
        line->count = count;
    add_targets(profiler, &at->at, line);
}

/* ---- Writing ---- */

static int by_offset(const void *left, const void *right)
{
    const struct profile_line *a = left, *b = right;
    if (a->offset != b->offset)
        return a->offset < b->offset ? -1 : 1;
    return (a->discriminator > b->discriminator) - (a->discriminator < b->discriminator);
}

static int by_place(const void *left, const void *right)
{
    const struct profile *a = *(struct profile *const *)left, *b = *(struct profile *const *)right;
    if (a->offset != b->offset)
        return a->offset < b->offset ? -1 : 1;
    if (a->discriminator != b->discriminator)
        return a->discriminator < b->discriminator ? -1 : 1;
    return strcmp(a->symbol, b->symbol);
}

static int by_total(const void *left, const void *right)
{
    const struct profile *a = *(struct profile *const *)left, *b = *(struct profile *const *)right;
    if (!a || !b)
        return !a - !b;
    if (a->total != b->total)
        return a->total > b->total ? -1 : 1;
    return strcmp(a->symbol, b->symbol);
}

static int by_count(const void *left, const void *right)
{
    const struct profile_target *a = left, *b = right;
    if (a->count != b->count)
        return a->count > b->count ? -1 : 1;
    return strcmp(a->symbol, b->symbol);
}

static void sort(struct array *all, int (*compare)(const void *, const void *))
{
    if (all->count > 1)
        qsort(all->elements, all->count, all->element_size, compare);
}

/* Orders what is in a profile. */
static void order(struct profile *profile)
{
    sort(&profile->lines, by_offset);
    sort(&profile->inlined, by_place);
    for (size_t i = 0; i < profile->lines.count; i++)
        sort(&((struct profile_line *)array_at(&profile->lines, i))->targets, by_count);
    for (size_t i = 0; i < profile->inlined.count; i++)
        order(*(struct profile **)array_at(&profile->inlined, i));
}

static void write_place(uint32_t offset, uint32_t discriminator, int depth, FILE *stream)
{
    fprintf(stream, "%*s%" PRIu32, depth, "", offset);
    if (discriminator > 0)
        fprintf(stream, ".%" PRIu32, discriminator);
    fputs(": ", stream);
}

/* What is in the profile, one column to the right of its name. */
static void write_inside(const struct profile *profile, int depth, FILE *stream)
{
    for (size_t i = 0; i < profile->lines.count; i++) {
        const struct profile_line *line = array_at(&profile->lines, i);
        write_place(line->offset, line->discriminator, depth, stream);
        fprintf(stream, "%" PRIu64, line->count);
        for (size_t j = 0; j < line->targets.count; j++) {
            const struct profile_target *target = array_at(&line->targets, j);
            fprintf(stream, " %s:%" PRIu64, target->symbol, target->count);
        }
        fputc('\n', stream);
    }
    for (size_t i = 0; i < profile->inlined.count; i++) {
        const struct profile *inlined = *(struct profile **)array_at(&profile->inlined, i);
        write_place(inlined->offset, inlined->discriminator, depth, stream);
        fprintf(stream, "%s:%" PRIu64 "\n", inlined->symbol, inlined->total);
        write_inside(inlined, depth + 1, stream);
    }
}

static void write_functions(struct array *functions, FILE *stream)
{
    for (size_t i = 0; i < functions->count; i++) {
        struct profile *profile = *(struct profile **)array_at(functions, i);
        if (profile)
            order(profile);
    }
    sort(functions, by_total);
    for (size_t i = 0; i < functions->count; i++) {
        const struct profile *profile = *(struct profile **)array_at(functions, i);
        if (!profile)
            break;
        fprintf(stream, "%s:%" PRIu64 ":%" PRIu64 "\n", profile->symbol, profile->total,
                profile->head);
        write_inside(profile, 1, stream);
    }
}

static void profiler_free(struct profiler *profiler)
{
    for (size_t i = 0; i < profiler->functions.count; i++)
        profile_free(*(struct profile **)array_at(&profiler->functions, i));
    for (size_t i = 0; i < profiler->objects.count; i++)
        source_frames_close(((struct profiled_object *)array_at(&profiler->objects, i))->frames);
    array_free(&profiler->functions);
    array_free(&profiler->objects);
    array_free(&profiler->frames);
    array_free(&profiler->by_target);
}

void export_autofdo_write(const struct counts_export *export, FILE *stream)
{
    struct profiler profiler = {
        .counts = export->counts,
        .by_target = code_counts_by_target(export->counts),
        .objects = array_of(sizeof(struct profiled_object)),
        .functions = array_of(sizeof(struct profile *)),
        .frames = array_of(sizeof(struct source_frame)),
    };
    for (size_t i = 0; i < export->counts->instructions.count; i++)
        add_instruction(&profiler, array_at(&export->counts->instructions, i));
    write_functions(&profiler.functions, stream);
    profiler_free(&profiler);
}
