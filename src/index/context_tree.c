#include "index/context_tree.h"

#include "base/memory.h"
#include "index/span_scan.h"

#include <stdlib.h>

enum { CONTEXT_ROOT = STACK_ROOT };

struct context_tree context_tree_new(uint32_t group)
{
    return (struct context_tree){
        .paths = stack_tree_new(sizeof(struct context_node), group),
        .active = array_of(sizeof(uint32_t)),
    };
}

void context_tree_free(struct context_tree *tree)
{
    stack_tree_free(&tree->paths);
    array_free(&tree->active);
}

void context_tree_begin_call(struct context_tree *tree, enum context_side side)
{
    tree->added++;
    tree->calls[side]++;
    tree->active.count = 0;
}

/* The node with this group from `number` up to the root; or `otherwise`. */
static uint32_t find_around(const struct context_tree *tree, uint32_t number, uint32_t group,
                            uint32_t otherwise)
{
    for (;;) {
        const struct context_node *node = context_tree_node(tree, number);
        if (node->group == group)
            return number;
        if (number == CONTEXT_ROOT)
            return otherwise;
        number = node->parent;
    }
}

static uint32_t child_of(struct context_tree *tree, uint32_t parent, uint32_t group)
{
    const uint32_t known = context_tree_size(tree);
    uint32_t number = stack_tree_child(&tree->paths, parent, group);
    struct context_node *node = context_tree_node(tree, number);
    if (number == known)
        node->target = find_around(tree, parent, group, number);
    if (node->target != number)
        context_tree_node(tree, node->target)->is_recursive = true;
    return node->target;
}

/* An activation, or what a part of it adds. */
struct activation {
    uint32_t depth, group;
    const struct call_place *place;
    uint64_t length, suspended; /* ns */
    bool continues;             /* it was counted before */
};

static void enter(struct context_tree *tree, const struct activation *entered,
                  enum context_side side)
{
    const uint32_t depth = entered->depth;
    const uint64_t length = entered->length;
    struct array *active = &tree->active;
    uint32_t parent = CONTEXT_ROOT, number = CONTEXT_ROOT;
    if (active->count > depth)
        active->count = depth;
    if (active->count > 0) {
        parent = *(uint32_t *)array_at(active, active->count - 1);
        number = child_of(tree, parent, entered->group);
    }
    while (active->count <= depth) /* callers are missing in a damaged index alone */
        *(uint32_t *)array_add(active) = number;
    struct context_node *node = context_tree_node(tree, number);
    struct context_sums *sums = &node->sides[side];
    sums->calls += !entered->continues;
    sums->self += length;
    if (node->last_seen != tree->added) {
        node->last_seen = tree->added;
        node->present[side]++;
    }
    if (depth > 0)
        context_tree_node(tree, parent)->sides[side].self -= length;
    if (entered->suspended > 0 && side == CONTEXT_SLOW) {
        node->suspended += entered->suspended;
        if (depth > 0)
            context_tree_node(tree, parent)->suspended -= entered->suspended;
    }
    bool is_first = sums->calls == 1 && !entered->continues;
    bool is_longest = is_first || length > sums->longest;
    if (is_longest)
        sums->longest = length;
    if (is_longest && side == CONTEXT_SLOW)
        node->longest = *entered->place;
}

void context_tree_enter(struct context_tree *tree, uint32_t depth, uint32_t group,
                        const struct call_place *place, enum context_side side)
{
    const uint64_t length = place->span.end - place->span.start;
    enter(tree, &(struct activation){depth, group, place, length, 0, false}, side);
}

static uint32_t id_of(struct context_source source, const struct index_span *span)
{
    uint32_t group = index_group_of(source.index, span->function);
    return source.ids ? source.ids[group] : group;
}

static uint64_t left_out(struct context_source source, const struct call_part *part,
                         const struct index_span *span)
{
    return off_cpu_times_within(source.left_out, part->place.track, call_part_range(part, span));
}

/* A call, or a part of one. */
static bool add_part(struct context_tree *tree, struct context_source source,
                     const struct call_part *part, enum context_side side, struct error *error)
{
    const struct call_place *call = &part->place;
    const struct index_range range = {call->span.start, call->span.end + 1};
    const struct index_span *spans;
    struct span_scan scan = span_scan_begin(source.index, call->track, range);
    bool began = false, ended = false;
    const bool leaves_out = source.left_out && left_out(source, part, &call->span) > 0;
    for (size_t count; !ended && (count = span_scan_next(&scan, &spans, error)) > 0;)
        for (size_t i = count; i-- > 0 && !ended;) {
            if (!began)
                began = index_is_same_span(&spans[i], &call->span);
            else
                ended = spans[i].depth <= call->span.depth;
            if (!began || ended || !call_part_has(part, &spans[i]))
                continue;
            const struct call_place place = {call->track, spans[i]};
            const uint64_t without = leaves_out ? left_out(source, part, &spans[i]) : 0;
            if (without > 0 && off_cpu_times_has(source.left_out, &spans[i]))
                continue;
            const struct activation entered = {
                .depth = spans[i].depth - call->span.depth,
                .group = id_of(source, &spans[i]),
                .place = &place,
                .length = call_part_length(part, &spans[i]) - without,
                .suspended = call_part_suspension(part, &spans[i]),
                .continues = call_part_continues(part, &spans[i]),
            };
            enter(tree, &entered, side);
        }
    return span_scan_end(&scan);
}

bool context_tree_add(struct context_tree *tree, struct context_source source,
                      const struct call_place *call, enum context_side side, struct error *error)
{
    const struct call_part single = {.place = *call};
    const struct call_part *part = source.split ? split_calls_first(source.split, call) : NULL;
    context_tree_begin_call(tree, side);
    for (part = part ? part : &single; part; part = part->next)
        if (!add_part(tree, source, part, side, error))
            return false;
    return true;
}

static bool add_track(struct context_tree *tree, struct context_source source, uint32_t track,
                      struct index_range range, enum context_side side, struct error *error)
{
    const struct index_span *spans;
    struct span_scan scan = span_scan_begin(source.index, track, range);
    /* What is below the root has all its time. */
    tree->active.count = 0;
    *(uint32_t *)array_add(&tree->active) = CONTEXT_ROOT;
    for (size_t count; (count = span_scan_next(&scan, &spans, error)) > 0;)
        for (size_t i = count; i-- > 0;) {
            if (!range_overlaps(range, &spans[i]))
                continue;
            struct call_place place = {track, spans[i]};
            place.span.end = place.span.start + range_clip(range, &spans[i]);
            context_tree_enter(tree, spans[i].depth + 1, id_of(source, &spans[i]), &place, side);
        }
    context_tree_node(tree, CONTEXT_ROOT)->sides[side].self = 0;
    return span_scan_end(&scan);
}

bool context_tree_add_range(struct context_tree *tree, struct context_source source,
                            struct index_range range, enum context_side side, struct error *error)
{
    struct context_node *root = context_tree_node(tree, CONTEXT_ROOT);
    context_tree_begin_call(tree, side);
    root->sides[side].calls++;
    root->present[side]++;
    for (uint32_t track = 0; track < trace_index_facts(source.index)->tracks; track++)
        if (!trace_index_track(source.index, track).is_hits &&
            !add_track(tree, source, track, range, side, error))
            return false;
    return true;
}

void context_tree_finish(struct context_tree *tree)
{
    for (uint32_t i = context_tree_size(tree); i-- > 0;) {
        struct context_node *node = context_tree_node(tree, i);
        for (int side = 0; side < CONTEXT_SIDES; side++) {
            struct context_sums *sums = &node->sides[side];
            sums->total += sums->self;
            if (i != CONTEXT_ROOT)
                context_tree_node(tree, node->parent)->sides[side].total += sums->total;
        }
    }
}
