#include "analysis/comparison.h"

#include "analysis/renamed_functions.h"
#include "base/memory.h"
#include "index/file/index_reader.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* Neither must depend on the other: each has a thread, if a second one can be had. */
static void run_both(void *(*one)(void *), void *(*other)(void *), void *argument)
{
    pthread_t thread;
    bool is_helped = pthread_create(&thread, NULL, other, argument) == 0;
    one(argument);
    if (is_helped)
        pthread_join(thread, NULL);
    else
        other(argument);
}

/* ---- the tree ---- */

static bool add_part(struct comparison *comparison, enum context_side side, struct error *error)
{
    const struct trace_part *part = &comparison->parts[side];
    const struct context_source source = {
        .index = part->index,
        .ids = comparison->ids.by_group[side],
    };
    return part->is_call
               ? context_tree_add(&comparison->tree, source, &part->call, side, error)
               : context_tree_add_range(&comparison->tree, source, part->range, side, error);
}

static uint32_t group_of_root(const struct comparison *comparison)
{
    const struct trace_part *part = &comparison->parts[CONTEXT_A];
    if (!part->is_call)
        return comparison->ids.count;
    uint32_t group = index_group_of(part->index, part->call.span.function);
    return comparison->ids.by_group[CONTEXT_A][group];
}

static void make_tree(struct comparison *comparison, struct error *error)
{
    context_tree_free(&comparison->tree);
    comparison->tree = context_tree_new(group_of_root(comparison));
    if (add_part(comparison, CONTEXT_A, error))
        add_part(comparison, CONTEXT_B, error);
    context_tree_finish(&comparison->tree);
}

/* ---- the tree and the divergence ---- */

struct reading {
    struct comparison *comparison;
    struct error tree_error, divergence_error;
};

static void *read_tree(void *argument)
{
    struct reading *reading = argument;
    make_tree(reading->comparison, &reading->tree_error);
    return NULL;
}

static void *read_divergence(void *argument)
{
    struct reading *reading = argument;
    struct comparison *comparison = reading->comparison;
    divergence_free(&comparison->divergence);
    find_divergence(comparison->parts, &comparison->ids, &comparison->divergence,
                    &reading->divergence_error);
    return NULL;
}

static bool read_parts(struct comparison *comparison, struct error *error)
{
    struct reading reading = {.comparison = comparison};
    run_both(read_tree, read_divergence, &reading);
    const struct error *failure =
        reading.tree_error.code != ERROR_NONE ? &reading.tree_error : &reading.divergence_error;
    if (error && failure->code != ERROR_NONE)
        *error = *failure;
    return failure->code == ERROR_NONE;
}

/* With the numbers of renamed functions joined, the tree has their calls in the same nodes, and
 * both parts make the same calls where they call them. */
static bool join_renamed(struct comparison *comparison, struct error *error)
{
    struct array pairs = array_of(sizeof(struct renamed_pair));
    find_renamed(&comparison->tree, &comparison->ids, &pairs);
    for (size_t i = 0; i < pairs.count; i++) {
        const struct renamed_pair *pair = array_at(&pairs, i);
        struct renamed_function *renamed = array_add(&comparison->renamed);
        renamed->id = pair->of_a;
        renamed->names[CONTEXT_A] = function_ids_function(&comparison->ids, pair->of_a).name;
        renamed->names[CONTEXT_B] = function_ids_function(&comparison->ids, pair->of_b).name;
        function_ids_join(&comparison->ids, pair->of_a, pair->of_b);
    }
    bool ok = pairs.count == 0 || read_parts(comparison, error);
    array_free(&pairs);
    return ok;
}

/* ---- functions ---- */

/* By id, and one more for what calls all threads: whether it has one of the colours, of which each
 * is a bit. The number of a function that was renamed in B stands for none. The caller frees. */
static bool *find_coloured(const struct comparison *comparison, unsigned colours)
{
    const struct function_ids *ids = &comparison->ids;
    bool *coloured = memory_allocate_zeroed(ids->count + 1);
    for (uint32_t id = 0; id < ids->count; id++) {
        if (ids->groups[CONTEXT_A][id] == NO_FUNCTION && ids->groups[CONTEXT_B][id] == NO_FUNCTION)
            continue;
        coloured[id] = colours >> function_ids_function(ids, id).colour & 1;
    }
    return coloured;
}

static uint64_t size_of(const struct function_difference *difference)
{
    uint64_t a = difference->self[CONTEXT_A], b = difference->self[CONTEXT_B];
    return a > b ? a - b : b - a;
}

static int compare_differences(const void *left, const void *right)
{
    const struct function_difference *a = left, *b = right;
    if (size_of(a) != size_of(b))
        return size_of(a) > size_of(b) ? -1 : 1;
    if (a->self[CONTEXT_B] != b->self[CONTEXT_B])
        return a->self[CONTEXT_B] > b->self[CONTEXT_B] ? -1 : 1;
    return (a->id > b->id) - (a->id < b->id);
}

/* By id; one more stands for what calls all threads. Callees have greater numbers than callers. */
static struct function_difference *sum_functions(struct comparison *comparison)
{
    const struct context_tree *tree = &comparison->tree;
    struct function_difference *rows =
        memory_allocate_zeroed((comparison->ids.count + 1) * sizeof *rows);
    bool *is_outside = find_coloured(comparison, 1 << INDEX_SPECIAL);
    /* By node, with all below it. */
    uint64_t(*outside)[CONTEXT_SIDES] =
        memory_allocate_zeroed(context_tree_size(tree) * sizeof *outside);
    for (uint32_t i = context_tree_size(tree); i-- > 0;) {
        const struct context_node *node = context_tree_node(tree, i);
        struct function_difference *row = &rows[node->group];
        for (int side = 0; side < CONTEXT_SIDES; side++) {
            outside[i][side] += is_outside[node->group] ? node->sides[side].self : 0;
            if (i != STACK_ROOT)
                outside[node->parent][side] += outside[i][side];
            /* A path has a function once, so totals of one function do not overlap. */
            row->calls[side] += node->sides[side].calls;
            row->self[side] += node->sides[side].self;
            row->total[side] += node->sides[side].total;
            row->outside[side] += outside[i][side];
        }
    }
    memcpy(comparison->outside, outside[STACK_ROOT], sizeof comparison->outside);
    free(outside);
    free(is_outside);
    return rows;
}

static void add_up_functions(struct comparison *comparison)
{
    struct function_difference *rows = sum_functions(comparison);
    for (int side = 0; side < CONTEXT_SIDES; side++)
        comparison->wall[side] =
            context_tree_node(&comparison->tree, STACK_ROOT)->sides[side].total;
    for (uint32_t id = 0; id < comparison->ids.count; id++) {
        rows[id].id = id;
        if (rows[id].calls[CONTEXT_A] + rows[id].calls[CONTEXT_B] > 0)
            array_add_all(&comparison->functions, &rows[id], 1);
    }
    if (comparison->functions.count > 1)
        qsort(comparison->functions.elements, comparison->functions.count,
              comparison->functions.element_size, compare_differences);
    free(rows);
}

static const char *file_of(const struct comparison *comparison, uint32_t id, int side)
{
    uint32_t group = comparison->ids.groups[side][id];
    if (group == NO_FUNCTION)
        return NULL;
    const char *file = trace_index_function(comparison->ids.indexes[side], group).file;
    const char *slash = file ? strrchr(file, '/') : NULL;
    return slash ? slash + 1 : file;
}

/* Folders differ where the same source was built elsewhere. */
static void find_moved(struct comparison *comparison)
{
    for (size_t i = 0; i < comparison->functions.count; i++) {
        const struct function_difference *row = array_at(&comparison->functions, i);
        const char *a = file_of(comparison, row->id, CONTEXT_A);
        const char *b = file_of(comparison, row->id, CONTEXT_B);
        if (a && b && strcmp(a, b) != 0)
            *(struct moved_function *)array_add(&comparison->moved) =
                (struct moved_function){row->id, {a, b}};
    }
}

/* ---- causes ---- */

/* To whole nanoseconds, from the first on, so that they add up to the whole difference. */
static void round_causes(struct array *causes)
{
    double sum = 0, rounded = 0;
    for (size_t i = 0; i < causes->count; i++) {
        struct cause *cause = array_at(causes, i);
        sum += cause->extra;
        cause->extra = round(sum) - rounded;
        rounded = round(sum);
    }
}

void comparison_name_causes(struct comparison *comparison, size_t causes_max)
{
    comparison->causes.count = 0;
    bool *outside = find_coloured(comparison, 1 << INDEX_SPECIAL);
    bool *own = find_coloured(comparison, 1 << INDEX_OWN | 1 << INDEX_INLINED);
    own[comparison->ids.count] = true;
    const struct attribution_request request = {
        .tree = &comparison->tree,
        .is_outside = outside,
        .is_own = own,
        .preempted = comparison->preempted,
        .causes_max = causes_max,
        .is_symmetric = true,
    };
    attribute(&request, &comparison->causes);
    round_causes(&comparison->causes);
    free(outside);
    free(own);
}

static uint32_t preempted_id(const struct comparison *comparison)
{
    for (int side = 0; side < CONTEXT_SIDES; side++) {
        uint32_t group = index_off_cpu_groups(comparison->parts[side].index).preempted;
        if (group != UINT32_MAX)
            return comparison->ids.by_group[side][group];
    }
    return NO_FUNCTION;
}

/* ---- all of it ---- */

struct summary {
    struct comparison *comparison;
    size_t causes_max;
};

static void *sum_up_functions(void *argument)
{
    const struct summary *summary = argument;
    add_up_functions(summary->comparison);
    find_moved(summary->comparison);
    return NULL;
}

static void *sum_up_causes(void *argument)
{
    const struct summary *summary = argument;
    comparison_name_causes(summary->comparison, summary->causes_max);
    return NULL;
}

bool compare_parts(const struct trace_part parts[CONTEXT_SIDES], size_t causes_max,
                   struct comparison *comparison, struct error *error)
{
    *comparison = (struct comparison){
        .parts = {parts[CONTEXT_A], parts[CONTEXT_B]},
        .ids = function_ids_new(parts[CONTEXT_A].index, parts[CONTEXT_B].index),
        .tree = context_tree_new(0),
        .causes = array_of(sizeof(struct cause)),
        .functions = array_of(sizeof(struct function_difference)),
        .renamed = array_of(sizeof(struct renamed_function)),
        .moved = array_of(sizeof(struct moved_function)),
    };
    comparison->preempted = preempted_id(comparison);
    if (!read_parts(comparison, error) || !join_renamed(comparison, error))
        return false;
    run_both(sum_up_functions, sum_up_causes, &(struct summary){comparison, causes_max});
    return true;
}

void comparison_free(struct comparison *comparison)
{
    function_ids_free(&comparison->ids);
    context_tree_free(&comparison->tree);
    array_free(&comparison->causes);
    array_free(&comparison->functions);
    array_free(&comparison->renamed);
    array_free(&comparison->moved);
    divergence_free(&comparison->divergence);
}
