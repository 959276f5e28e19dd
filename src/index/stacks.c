#include "index/stacks.h"

#include "base/array.h"
#include "base/memory.h"
#include "index/file/index_reader.h"

#include <stdlib.h>

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

static bool is_asked_for(const struct part_record *part, struct index_range range, uint32_t stacks)
{
    return part->stack < stacks && part->from < range.to && part->to > range.from;
}

/* One past the place in `parts` of each stack's newest part, or 0. */
struct newest {
    size_t *of_stack;
    struct array *parts;
};

/* The newest part of that stack, if this one is to be one with it; else NULL. */
static struct index_stack_part *find_neighbour(const struct newest *newest,
                                               const struct part_record *part, uint64_t resolution)
{
    if (newest->of_stack[part->stack] == 0 || part->to - part->from >= resolution)
        return NULL;
    struct index_stack_part *last = array_at(newest->parts, newest->of_stack[part->stack] - 1);
    const bool is_short =
        last->track == INDEX_SEVERAL_TRACKS || last->to - last->from < resolution;
    const bool is_near = part->from < last->to || part->from - last->to < resolution;
    return is_short && is_near ? last : NULL;
}

static void add_part(struct newest *newest, const struct part_record *part, uint64_t resolution)
{
    struct index_stack_part *neighbour = find_neighbour(newest, part, resolution);
    if (neighbour) {
        neighbour->track = INDEX_SEVERAL_TRACKS;
        neighbour->to = part->to > neighbour->to ? part->to : neighbour->to;
        return;
    }
    *(struct index_stack_part *)array_add(newest->parts) =
        (struct index_stack_part){part->from, part->to, part->stack, part->track};
    newest->of_stack[part->stack] = newest->parts->count;
}

/* False when they are more than `limit`. */
static bool gather(const struct trace_index *index, struct index_range range, uint32_t stacks,
                   uint64_t resolution, size_t limit, struct array *parts)
{
    struct newest newest = {memory_allocate_zeroed((stacks + 1) * sizeof(size_t)), parts};
    for (uint64_t i = 0; i < index->facts.stack_parts && parts->count <= limit; i++)
        if (is_asked_for(&index->parts[i], range, stacks))
            add_part(&newest, &index->parts[i], resolution);
    free(newest.of_stack);
    return parts->count <= limit;
}

void index_stack_parts(const struct trace_index *index, struct index_range range, uint32_t stacks,
                       uint64_t resolution, size_t limit, struct array *parts)
{
    enum { COARSER = 4 };
    if (stacks > index->facts.stacks)
        stacks = index->facts.stacks;
    /* At the coarsest each stack has one part. */
    if (limit < stacks)
        limit = stacks;
    while (!gather(index, range, stacks, resolution, limit, parts)) {
        parts->count = 0;
        resolution = resolution < INDEX_TIME_MAX / COARSER ? resolution * COARSER + 1
                                                           : UINT64_MAX;
    }
}
