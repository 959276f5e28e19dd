#include "analysis/explanation.h"

#include "analysis/known_work.h"
#include "base/memory.h"
#include "index/call_ordinal.h"
#include "index/off_cpu_times.h"

#include <math.h>
#include <stdlib.h>

static uint32_t group_at(const struct explanation *explanation, uint32_t number)
{
    return context_tree_node(&explanation->tree, number)->group;
}

static uint32_t parent_of(const struct explanation *explanation, uint32_t number)
{
    return context_tree_node(&explanation->tree, number)->parent;
}

static const char *name_at(const struct explanation *explanation, uint32_t number)
{
    return trace_index_function(explanation->index, group_at(explanation, number)).name;
}

static bool is_outside(const struct explanation *explanation, uint32_t number)
{
    uint32_t group = group_at(explanation, number);
    return trace_index_function(explanation->index, group).colour == INDEX_SPECIAL;
}

/* ---- the trees ---- */

static bool add_calls(struct explanation *explanation, const struct array *calls,
                      enum context_side side, struct error *error)
{
    const struct context_source source = {
        .index = explanation->index,
        .split = &explanation->calls.split,
        .left_out = explanation->calls.preempted,
    };
    for (size_t i = 0; i < calls->count; i++)
        if (!context_tree_add(&explanation->tree, source, array_at(calls, i), side, error))
            return false;
    return true;
}

static void attribute_all(struct explanation *explanation, size_t causes_max, struct array *causes)
{
    uint32_t count = trace_index_facts(explanation->index)->functions;
    bool *outside = memory_allocate(count + 1), *own = memory_allocate(count + 1);
    for (uint32_t i = 0; i < count; i++) {
        enum index_colour colour = trace_index_function(explanation->index, i).colour;
        outside[i] = colour == INDEX_SPECIAL;
        own[i] = colour == INDEX_OWN || colour == INDEX_INLINED;
    }
    const struct attribution_request request = {
        .tree = &explanation->tree,
        .is_outside = outside,
        .is_own = own,
        .preempted = UINT32_MAX,
        .causes_max = causes_max,
    };
    explanation->extra = attribute(&request, causes);
    free(outside);
    free(own);
}

/* ---- what is said of a cause ---- */

/* What the outermost function that is known does, from the cause to the carrier: a lock rather than
 * the system call that its waiting comes down to. */
static const char *find_work(const struct explanation *explanation, const struct cause *cause)
{
    const char *outermost = NULL;
    for (uint32_t i = cause->carrier;; i = parent_of(explanation, i)) {
        const char *work = known_work(name_at(explanation, i));
        outermost = work ? work : outermost;
        if (i == cause->node || i == STACK_ROOT)
            return outermost;
    }
}

static enum explained_place find_where(const struct explanation *explanation, uint32_t carrier)
{
    const struct context_node *node = context_tree_node(&explanation->tree, carrier);
    if (!is_outside(explanation, carrier))
        return node->suspended > node->sides[CONTEXT_SLOW].self / 2 ? PLACE_SUSPENDED
                                                                    : PLACE_PROGRAM;
    uint32_t system_call = index_system_call_group(explanation->index);
    if (group_at(explanation, carrier) == system_call)
        return PLACE_SYSTEM_CALL;
    const struct off_cpu_groups off_cpu = index_off_cpu_groups(explanation->index);
    if (group_at(explanation, carrier) == off_cpu.preempted)
        return PLACE_PREEMPTED;
    if (group_at(explanation, carrier) != off_cpu.not_running)
        return PLACE_OUTSIDE;
    uint32_t around = parent_of(explanation, carrier);
    if (!is_outside(explanation, around))
        return PLACE_PREEMPTED;
    return group_at(explanation, around) == system_call ? PLACE_WAITING : PLACE_OUTSIDE;
}

static uint32_t find_waiter(const struct explanation *explanation, uint32_t carrier)
{
    while (carrier != STACK_ROOT && is_outside(explanation, carrier))
        carrier = parent_of(explanation, carrier);
    return group_at(explanation, carrier);
}

static void find_path(const struct explanation *explanation, uint32_t number, struct array *path)
{
    for (;; number = parent_of(explanation, number)) {
        *(uint32_t *)array_insert(path, 0) = group_at(explanation, number);
        if (number == STACK_ROOT)
            return;
    }
}

static void describe(const struct explanation *explanation, struct explained_cause *explained)
{
    const struct cause *cause = &explained->cause;
    explained->path = array_of(sizeof(uint32_t));
    if (cause->kind == CAUSE_REST)
        return;
    uint32_t named =
        cause->kind == CAUSE_OUTSIDE ? parent_of(explanation, cause->node) : cause->node;
    explained->group = group_at(explanation, named);
    explained->where = find_where(explanation, cause->carrier);
    explained->waiter = find_waiter(explanation, cause->carrier);
    explained->work = find_work(explanation, cause);
    if (cause->kind == CAUSE_OUTSIDE && !explained->work)
        explained->work = known_work(name_at(explanation, named));
    find_path(explanation, cause->carrier, &explained->path);
}

static bool find_place(const struct explanation *explanation, struct explained_cause *explained,
                       struct error *error)
{
    const struct cause *cause = &explained->cause;
    uint32_t named =
        cause->kind == CAUSE_OUTSIDE ? parent_of(explanation, cause->node) : cause->node;
    const struct context_node *node = context_tree_node(&explanation->tree, named);
    if (cause->kind == CAUSE_REST || node->sides[CONTEXT_SLOW].calls == 0)
        return true;
    explained->place = node->longest;
    return index_call_ordinal(explanation->index, (struct index_tracks){0}, node->group,
                              &node->longest, &explained->ordinal, error);
}

/* Rounds sums from the first cause on, so that what is shown adds up. */
static void round_all(struct explanation *explanation)
{
    double sum = 0;
    int64_t nanoseconds = 0;
    int share = 0;
    for (size_t i = 0; i < explanation->causes.count; i++) {
        struct explained_cause *explained = array_at(&explanation->causes, i);
        sum += explained->cause.extra;
        bool is_last = i + 1 == explanation->causes.count;
        int64_t rounded = is_last ? llround(explanation->extra) : llround(sum);
        int shares = is_last ? 1000 : (int)lround(sum / explanation->extra * 1000);
        explained->extra = rounded - nanoseconds;
        explained->share = shares - share;
        nanoseconds = rounded;
        share = shares;
    }
}

static bool find_causes(struct explanation *explanation, size_t causes_max, struct error *error)
{
    struct array causes = array_of(sizeof(struct cause));
    attribute_all(explanation, causes_max, &causes);
    bool ok = true;
    /* A call that took no longer than usual has nothing to be explained. */
    for (size_t i = 0; ok && explanation->extra >= 1 && i < causes.count; i++) {
        struct explained_cause *explained = array_add(&explanation->causes);
        explained->cause = *(struct cause *)array_at(&causes, i);
        describe(explanation, explained);
        ok = find_place(explanation, explained, error);
    }
    round_all(explanation);
    array_free(&causes);
    return ok;
}

bool explain(const struct trace_index *index, const struct slow_calls_request *request,
             size_t causes_max, struct explanation *explanation, struct error *error)
{
    *explanation = (struct explanation){
        .index = index,
        .tree = context_tree_new(request->group),
        .causes = array_of(sizeof(struct explained_cause)),
    };
    struct slow_calls *calls = &explanation->calls;
    if (!slow_calls_find(index, request, calls, error))
        return false;
    if (calls->usual.count == 0)
        return error_set(error, ERROR_NOT_FOUND,
                         "no call of %s is left to compare the slow ones with: raise -above",
                         trace_index_function(index, request->group).name);
    if (!add_calls(explanation, &calls->slow, CONTEXT_SLOW, error) ||
        !add_calls(explanation, &calls->usual, CONTEXT_USUAL, error))
        return false;
    context_tree_finish(&explanation->tree);
    return index_call_ordinal(index, (struct index_tracks){0}, request->group,
                              array_at(&calls->slow, 0), &explanation->longest_ordinal, error) &&
           find_causes(explanation, causes_max, error);
}

void explanation_free(struct explanation *explanation)
{
    for (size_t i = 0; i < explanation->causes.count; i++)
        array_free(&((struct explained_cause *)array_at(&explanation->causes, i))->path);
    array_free(&explanation->causes);
    context_tree_free(&explanation->tree);
    slow_calls_free(&explanation->calls);
}
