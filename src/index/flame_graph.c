#include "index/flame_graph.h"

#include "base/memory.h"
#include "index/off_cpu_times.h"
#include "index/scan_parts.h"
#include "index/span_scan.h"
#include "index/stack_tree.h"

#include <stdlib.h>

struct flame_stack {
    uint32_t parent, group; /* as stack_tree.h wants them */
    uint64_t calls, total, self;
};

struct flame {
    const struct trace_index *index;
    struct stack_tree tree;
};

/* What one thread has found. */
struct flame_part {
    const struct trace_index *index;
    struct stack_tree tree;
    struct array path; /* of uint32_t: the node at each depth */
};

static struct flame_stack *stack_at(const struct stack_tree *tree, uint32_t number)
{
    return (struct flame_stack *)tree->nodes.elements + number;
}

/* ---- gathering ---- */

static void add_span(struct flame_part *part, const struct scan_part *scanned,
                     const struct index_span *span)
{
    struct array *path = &part->path;
    while (path->count < span->depth) /* callers are missing in a damaged index alone */
        *(uint32_t *)array_add(path) = STACK_ROOT;
    uint32_t parent =
        span->depth ? *(uint32_t *)array_at(path, span->depth - 1) : (uint32_t)STACK_ROOT;
    uint32_t number =
        stack_tree_child(&part->tree, parent, index_group_of(part->index, span->function));
    path->count = span->depth;
    *(uint32_t *)array_add(path) = number;
    if (!range_overlaps(scanned->range, span))
        return;
    struct flame_stack *node = stack_at(&part->tree, number);
    uint64_t time = range_clip(scanned->range, span);
    node->calls += part_counts(scanned, span);
    node->total += time;
    node->self += time;
    if (parent != STACK_ROOT)
        stack_at(&part->tree, parent)->self -= time;
}

static bool scan_part(void *state, const struct scan_part *scanned, struct error *error)
{
    struct flame_part *part = state;
    const struct index_span *spans;
    struct span_scan scan = span_scan_begin(part->index, scanned->track, scanned->range);
    part->path.count = 0;
    for (size_t count; (count = span_scan_next(&scan, &spans, error)) > 0;)
        for (size_t i = count; i-- > 0;)
            add_span(part, scanned, &spans[i]);
    return span_scan_end(&scan);
}

static void *begin_part(void *context)
{
    const struct flame *flame = context;
    struct flame_part *part = memory_allocate(sizeof *part);
    *part =
        (struct flame_part){flame->index, stack_tree_new(sizeof(struct flame_stack), UINT32_MAX),
                            array_of(sizeof(uint32_t))};
    return part;
}

/* Parents have smaller numbers than their children, so their numbers in the other tree are known.
 */
static void add_tree(struct stack_tree *tree, const struct stack_tree *other)
{
    uint32_t *numbers = memory_allocate(other->nodes.count * sizeof *numbers);
    numbers[STACK_ROOT] = STACK_ROOT;
    for (uint32_t i = STACK_ROOT + 1; i < other->nodes.count; i++) {
        const struct flame_stack *from = stack_at(other, i);
        numbers[i] = stack_tree_child(tree, numbers[from->parent], from->group);
        struct flame_stack *to = stack_at(tree, numbers[i]);
        to->calls += from->calls;
        to->total += from->total;
        to->self += from->self;
    }
    free(numbers);
}

static void end_part(void *context, void *state)
{
    struct flame *flame = context;
    struct flame_part *part = state;
    add_tree(&flame->tree, &part->tree);
    stack_tree_free(&part->tree);
    array_free(&part->path);
    free(part);
}

/* ---- the answer ---- */

/* By parent, then the widest first. */
static int compare_nodes(const void *left, const void *right, void *context)
{
    const struct stack_tree *tree = context;
    const struct flame_stack *a = stack_at(tree, *(const uint32_t *)left);
    const struct flame_stack *b = stack_at(tree, *(const uint32_t *)right);
    if (a->parent != b->parent)
        return a->parent < b->parent ? -1 : 1;
    if (a->total != b->total)
        return a->total > b->total ? -1 : 1;
    return (a->group > b->group) - (a->group < b->group);
}

/* The nodes below the root in that order; `first` has by parent where its children begin, and one
 * more element at the end. */
static uint32_t *sort_nodes(const struct stack_tree *tree, uint32_t **first)
{
    uint32_t count = (uint32_t)tree->nodes.count;
    uint32_t *sorted = memory_allocate(count * sizeof *sorted);
    *first = memory_allocate_zeroed(((size_t)count + 1) * sizeof **first);
    for (uint32_t i = 1; i < count; i++) {
        sorted[i - 1] = i;
        (*first)[stack_at(tree, i)->parent + 1]++;
    }
    for (uint32_t i = 0; i < count; i++)
        (*first)[i + 1] += (*first)[i];
    qsort_r(sorted, count - 1, sizeof *sorted, compare_nodes, (void *)tree);
    return sorted;
}

static uint64_t total_of_root(const struct stack_tree *tree, const uint32_t *sorted,
                              const uint32_t *first)
{
    uint64_t total = 0;
    for (uint32_t i = first[STACK_ROOT]; i < first[STACK_ROOT + 1]; i++)
        total += stack_at(tree, sorted[i])->total;
    return total;
}

struct reported_node {
    uint32_t number; /* in the tree */
    uint32_t parent; /* among the reported nodes */
};

static void report(const struct stack_tree *tree, double share, struct array *nodes)
{
    uint32_t *first, *sorted = sort_nodes(tree, &first);
    stack_at(tree, STACK_ROOT)->total = total_of_root(tree, sorted, first);
    double narrowest = share * (double)stack_at(tree, STACK_ROOT)->total;
    struct array reported = array_of(sizeof(struct reported_node));
    array_add(&reported);
    for (size_t i = 0; i < reported.count; i++) {
        const struct reported_node here = *(struct reported_node *)array_at(&reported, i);
        const struct flame_stack *node = stack_at(tree, here.number);
        struct flame_node answer = {
            .parent = here.parent,
            .group = node->group,
            .calls = node->calls,
            .total = node->total,
            .self = node->self,
        };
        for (uint32_t j = first[here.number]; j < first[here.number + 1]; j++) {
            const struct flame_stack *child = stack_at(tree, sorted[j]);
            if (child->calls == 0)
                continue; /* it only touches the range */
            if ((double)child->total >= narrowest)
                *(struct reported_node *)array_add(&reported) =
                    (struct reported_node){sorted[j], (uint32_t)i};
            else
                answer.omitted += child->total;
        }
        array_add_all(nodes, &answer, 1);
    }
    array_free(&reported);
    free(first);
    free(sorted);
}

/* Leaves the nodes of the group out, with all below them: their time is that of nothing around them, either. Children have
 * greater numbers, so that they come first. */
static void leave_out(struct stack_tree *tree, struct off_cpu_groups off_cpu)
{
    for (uint32_t i = (uint32_t)tree->nodes.count; i-- > STACK_ROOT + 1;) {
        struct flame_stack *node = stack_at(tree, i);
        if (!off_cpu_groups_has(off_cpu, node->group))
            continue;
        for (uint32_t at = node->parent; at != STACK_ROOT; at = stack_at(tree, at)->parent)
            stack_at(tree, at)->total -= node->total;
        node->calls = node->total = node->self = 0;
    }
}

bool index_flame_graph(const struct trace_index *index, const struct flame_request *request,
                       struct array *nodes, struct error *error)
{
    struct flame flame = {index, stack_tree_new(sizeof(struct flame_stack), UINT32_MAX)};
    const struct part_scanner scanner = {&flame, begin_part, scan_part, end_part};
    bool ok = scan_parts(index, request->tracks, request->range, &scanner, error);
    if (ok && request->on_cpu)
        leave_out(&flame.tree, index_off_cpu_groups(index));
    if (ok)
        report(&flame.tree, request->share, nodes);
    stack_tree_free(&flame.tree);
    return ok;
}
