#include "analysis/divergence.h"

#include "analysis/call_walk.h"
#include "index/file/index_reader.h"

/* A part that is gone through. */
struct walked_part {
    struct call_walk walk;
    const uint32_t *ids; /* by group */
    struct array stack;  /* of uint32_t: ids of the active calls */
};

static uint32_t busiest_track(const struct trace_index *index)
{
    uint32_t busiest = 0;
    uint64_t most = 0;
    for (uint32_t i = 0; i < trace_index_facts(index)->tracks; i++) {
        struct index_track track = trace_index_track(index, i);
        if (!track.is_hits && track.spans > most) {
            most = track.spans;
            busiest = i;
        }
    }
    return busiest;
}

static struct walked_part part_begin(const struct trace_part *part, const uint32_t *ids)
{
    const struct index_span *call = &part->call.span;
    const struct index_range range =
        part->is_call ? (struct index_range){call->start, call->end + 1} : part->range;
    uint32_t track = part->is_call ? part->call.track : busiest_track(part->index);
    return (struct walked_part){
        .walk = call_walk_begin(part->index, track, range, part->is_call ? call->depth : 0),
        .ids = ids,
        .stack = array_of(sizeof(uint32_t)),
    };
}

static bool part_end(struct walked_part *part)
{
    array_free(&part->stack);
    return call_walk_end(&part->walk);
}

/* The next call, with its callers on the stack; NULL at the end, or when it cannot be read. */
static const struct index_span *part_next(struct walked_part *part, struct error *error)
{
    const struct index_span *span = call_walk_next(&part->walk, error);
    if (!span)
        return NULL;
    uint32_t depth = span->depth - part->walk.depth;
    while (part->stack.count < depth) /* callers that began before the range */
        *(uint32_t *)array_add(&part->stack) = NO_FUNCTION;
    part->stack.count = depth;
    return span;
}

static uint32_t id_of(const struct walked_part *part, const struct index_span *span)
{
    return part->ids[index_group_of(part->walk.index, span->function)];
}

static void take(struct walked_part *part, const struct index_span *span)
{
    *(uint32_t *)array_add(&part->stack) = id_of(part, span);
}

static bool are_same(const struct walked_part parts[CONTEXT_SIDES],
                     const struct index_span *const spans[CONTEXT_SIDES])
{
    return id_of(&parts[CONTEXT_A], spans[CONTEXT_A]) ==
               id_of(&parts[CONTEXT_B], spans[CONTEXT_B]) &&
           parts[CONTEXT_A].stack.count == parts[CONTEXT_B].stack.count;
}

static void keep(struct divergence_side *side, const struct walked_part *part,
                 const struct index_span *span)
{
    array_add_all(&side->stack, part->stack.elements, part->stack.count);
    side->has_call = span != NULL;
    if (span)
        side->call = (struct call_place){part->walk.track, *span};
}

bool find_divergence(const struct trace_part parts[CONTEXT_SIDES], const struct function_ids *ids,
                     struct divergence *divergence, struct error *error)
{
    struct walked_part walked[CONTEXT_SIDES];
    *divergence = (struct divergence){0};
    for (int side = 0; side < CONTEXT_SIDES; side++) {
        walked[side] = part_begin(&parts[side], ids->by_group[side]);
        divergence->sides[side].stack = array_of(sizeof(uint32_t));
        divergence->sides[side].track = walked[side].walk.track;
    }
    const struct index_span *spans[CONTEXT_SIDES];
    for (;; divergence->common_calls++) {
        for (int side = 0; side < CONTEXT_SIDES; side++)
            spans[side] = part_next(&walked[side], error);
        if (!spans[CONTEXT_A] || !spans[CONTEXT_B] || !are_same(walked, spans))
            break;
        for (int side = 0; side < CONTEXT_SIDES; side++)
            take(&walked[side], spans[side]);
    }
    divergence->is_found = spans[CONTEXT_A] || spans[CONTEXT_B];
    for (int side = 0; divergence->is_found && side < CONTEXT_SIDES; side++)
        keep(&divergence->sides[side], &walked[side], spans[side]);
    bool ok = true;
    for (int side = 0; side < CONTEXT_SIDES; side++)
        ok &= part_end(&walked[side]);
    return ok;
}

void divergence_free(struct divergence *divergence)
{
    for (int side = 0; side < CONTEXT_SIDES; side++)
        array_free(&divergence->sides[side].stack);
}
