#include "index/stacks.h"

#include "base/array.h"
#include "index/file/index_reader.h"

struct index_stack index_stack(const struct trace_index *index, uint32_t stack)
{
    const struct stack_record *record = &index->stacks[stack];
    return (struct index_stack){
        .name = index->strings + record->name,
        .parts = record->parts,
        .running = record->running,
        .first = record->first,
        .last = record->last,
        .depth = record->depth,
        .track = record->track,
    };
}

/* Whether the part is one with the newest part of the answer. */
static bool is_one_with(const struct stack_part *part, const struct index_stack_part *newest,
                        uint64_t resolution)
{
    const bool is_short =
        newest->track == INDEX_SEVERAL_TRACKS || newest->to - newest->from < resolution;
    return newest->stack == part->stack && is_short && part->to - part->from < resolution &&
           part->from - newest->to < resolution;
}

static void add_part(struct array *parts, const struct stack_part *part, uint64_t resolution)
{
    struct index_stack_part *newest = parts->count ? array_at(parts, parts->count - 1) : NULL;
    if (newest && is_one_with(part, newest, resolution)) {
        newest->track = INDEX_SEVERAL_TRACKS;
        newest->to = part->to;
        return;
    }
    *(struct index_stack_part *)array_add(parts) =
        (struct index_stack_part){part->from, part->to, part->stack, part->track};
}

/* False when they are more than `limit`. */
static bool gather(const struct trace_index *index, struct index_range range, uint32_t stacks,
                   uint64_t resolution, size_t limit, struct array *parts)
{
    for (uint64_t i = 0; i < index->facts.stack_parts && parts->count <= limit; i++) {
        const struct stack_part *part = &index->parts[i];
        if (part->stack >= stacks)
            break;
        if (part->from < range.to && part->to > range.from)
            add_part(parts, part, resolution);
    }
    return parts->count <= limit;
}

void index_stack_parts(const struct trace_index *index, struct index_range range, uint32_t stacks,
                       uint64_t resolution, size_t limit, struct array *parts)
{
    enum { LOWER = 4 };
    if (stacks > index->facts.stacks)
        stacks = index->facts.stacks;
    /* At the lowest each stack has one part. */
    if (limit < stacks)
        limit = stacks;
    while (!gather(index, range, stacks, resolution, limit, parts)) {
        parts->count = 0;
        resolution = resolution < INDEX_TIME_MAX / LOWER ? resolution * LOWER + 1 : UINT64_MAX;
    }
}
