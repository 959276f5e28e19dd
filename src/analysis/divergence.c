#include "analysis/divergence.h"

#include "base/memory.h"
#include "index/file/index_reader.h"
#include "index/off_cpu_times.h"
#include "index/span_scan.h"

#include <stdlib.h>

/* ---- the calls of a part, in the order of their beginnings ---- */

struct call_walk {
    const struct trace_index *index;
    const uint32_t *ids;
    uint32_t track;
    struct off_cpu_groups off_cpu; /* times off a processor, which are no calls */
    struct index_range range;      /* what is still to be read */
    uint64_t width;                /* ns, of what is read at once */
    uint32_t depth;                /* of the outermost that counts */
    struct array calls;            /* of struct index_span, that begin in what was read last */
    size_t next;
    struct array stack; /* of uint32_t: ids of the active calls */
};

enum { PARTS = 256 }; /* in which a walk is read */

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

static struct call_walk walk_begin(const struct trace_part *part, const uint32_t *ids)
{
    struct call_walk walk = {
        .index = part->index,
        .ids = ids,
        .track = part->is_call ? part->call.track : busiest_track(part->index),
        .off_cpu = index_off_cpu_groups(part->index),
        .range = part->range,
        .calls = array_of(sizeof(struct index_span)),
        .stack = array_of(sizeof(uint32_t)),
    };
    if (part->is_call) {
        walk.range = (struct index_range){part->call.span.start, part->call.span.end + 1};
        walk.depth = part->call.span.depth;
    }
    uint64_t end = trace_index_facts(part->index)->duration + 1;
    if (walk.range.to > end)
        walk.range.to = end;
    if (walk.range.from > walk.range.to)
        walk.range.from = walk.range.to;
    walk.width = (walk.range.to - walk.range.from) / PARTS + 1;
    return walk;
}

static void walk_end(struct call_walk *walk)
{
    array_free(&walk->calls);
    array_free(&walk->stack);
}

static int compare_beginnings(const void *left, const void *right)
{
    const struct index_span *a = left, *b = right;
    if (a->start != b->start)
        return a->start < b->start ? -1 : 1;
    return (a->depth > b->depth) - (a->depth < b->depth);
}

static bool read_part(struct call_walk *walk, struct error *error)
{
    struct index_range range = {walk->range.from, walk->range.from + walk->width};
    if (range.to > walk->range.to)
        range.to = walk->range.to;
    walk->range.from = range.to;
    walk->calls.count = walk->next = 0;
    const struct index_span *spans;
    struct span_scan scan = span_scan_begin(walk->index, walk->track, range);
    for (size_t count; (count = span_scan_next(&scan, &spans, error)) > 0;)
        for (size_t i = 0; i < count; i++)
            if (spans[i].start >= range.from && spans[i].start < range.to &&
                spans[i].depth >= walk->depth &&
                !off_cpu_groups_has(walk->off_cpu, index_group_of(walk->index, spans[i].function)))
                array_add_all(&walk->calls, &spans[i], 1);
    if (walk->calls.count > 1)
        qsort(walk->calls.elements, walk->calls.count, walk->calls.element_size,
              compare_beginnings);
    return span_scan_end(&scan);
}

/* The next call; NULL at the end, or when it cannot be read. */
static const struct index_span *walk_next(struct call_walk *walk, bool *ok, struct error *error)
{
    while (*ok && walk->next == walk->calls.count && walk->range.from < walk->range.to)
        *ok = read_part(walk, error);
    if (!*ok || walk->next == walk->calls.count)
        return NULL;
    const struct index_span *span = array_at(&walk->calls, walk->next++);
    uint32_t depth = span->depth - walk->depth;
    while (walk->stack.count < depth) /* callers that began before the range */
        *(uint32_t *)array_add(&walk->stack) = NO_FUNCTION;
    walk->stack.count = depth;
    return span;
}

static uint32_t id_of(const struct call_walk *walk, const struct index_span *span)
{
    return walk->ids[index_group_of(walk->index, span->function)];
}

static void take(struct call_walk *walk, const struct index_span *span)
{
    *(uint32_t *)array_add(&walk->stack) = id_of(walk, span);
}

static bool are_same(const struct call_walk walks[CONTEXT_SIDES],
                     const struct index_span *const spans[CONTEXT_SIDES])
{
    return id_of(&walks[CONTEXT_A], spans[CONTEXT_A]) ==
               id_of(&walks[CONTEXT_B], spans[CONTEXT_B]) &&
           spans[CONTEXT_A]->depth - walks[CONTEXT_A].depth ==
               spans[CONTEXT_B]->depth - walks[CONTEXT_B].depth;
}

static void keep(struct divergence_side *side, const struct call_walk *walk,
                 const struct index_span *span)
{
    array_add_all(&side->stack, walk->stack.elements, walk->stack.count);
    side->has_call = span != NULL;
    if (span)
        side->call = (struct call_place){walk->track, *span};
}

bool find_divergence(const struct comparison *comparison, struct divergence *divergence,
                     struct error *error)
{
    struct call_walk walks[CONTEXT_SIDES];
    *divergence = (struct divergence){0};
    for (int side = 0; side < CONTEXT_SIDES; side++) {
        walks[side] = walk_begin(&comparison->parts[side], comparison->ids.by_group[side]);
        divergence->sides[side].stack = array_of(sizeof(uint32_t));
        divergence->sides[side].track = walks[side].track;
    }
    bool ok = true, ended = false;
    while (!ended) {
        const struct index_span *spans[CONTEXT_SIDES];
        for (int side = 0; side < CONTEXT_SIDES; side++)
            spans[side] = walk_next(&walks[side], &ok, error);
        bool has_both = spans[CONTEXT_A] && spans[CONTEXT_B];
        ended = !ok || !has_both || !are_same(walks, spans);
        divergence->is_found = ok && ended && (spans[CONTEXT_A] || spans[CONTEXT_B]);
        for (int side = 0; side < CONTEXT_SIDES; side++) {
            if (divergence->is_found)
                keep(&divergence->sides[side], &walks[side], spans[side]);
            else if (!ended)
                take(&walks[side], spans[side]);
        }
        divergence->common_calls += !ended;
    }
    for (int side = 0; side < CONTEXT_SIDES; side++)
        walk_end(&walks[side]);
    return ok;
}

void divergence_free(struct divergence *divergence)
{
    for (int side = 0; side < CONTEXT_SIDES; side++)
        array_free(&divergence->sides[side].stack);
}
