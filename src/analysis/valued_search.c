#include "analysis/valued_search.h"

#include <string.h>

/* Calls `visit` with each call that fulfils the condition, of the groups for which `is_wanted` is true. */
static bool visit_calls(const struct trace_index *index, const struct value_condition *condition,
                        bool (*is_wanted)(void *context, uint32_t group, uint32_t track),
                        void (*visit)(void *context, uint32_t group,
                                      const struct call_place *place),
                        void *context, struct error *error)
{
    struct arena memory = {0};
    struct valued_call call;
    struct named_values values;
    bool ok = true;
    for (uint64_t i = 0; ok && i < trace_index_facts(index)->valued_calls; i++) {
        ok = index_valued_call(index, i, &call, error);
        if (!ok)
            break;
        uint32_t group = trace_index_function(index, call.place.span.function).group;
        if (!is_wanted(context, group, call.place.track))
            continue;
        ok = index_values_of(index, &call, &memory, &values, error);
        if (ok && value_condition_holds(condition, &values))
            visit(context, group, &call.place);
        arena_free(&memory);
    }
    return ok;
}

/* ---- counting ---- */

struct counting {
    const bool *is_wanted;
    uint64_t *calls;
};

static bool is_counted(void *context, uint32_t group, uint32_t track)
{
    (void)track;
    return ((const struct counting *)context)->is_wanted[group];
}

static void count(void *context, uint32_t group, const struct call_place *place)
{
    (void)place;
    ((const struct counting *)context)->calls[group]++;
}

bool valued_search_count(const struct trace_index *index, const struct value_condition *condition,
                         const bool *is_wanted, uint64_t *calls, struct error *error)
{
    struct counting counting = {is_wanted, calls};
    memset(calls, 0, trace_index_facts(index)->functions * sizeof *calls);
    return visit_calls(index, condition, is_counted, count, &counting, error);
}

/* ---- from call to call ---- */

struct stepping {
    const struct valued_step *step;
    struct valued_found *found;
};

static bool is_stepped(void *context, uint32_t group, uint32_t track)
{
    const struct valued_step *step = ((const struct stepping *)context)->step;
    return group == step->group && index_tracks_contain(step->tracks, track);
}

static void offer(void *context, uint32_t group, const struct call_place *place)
{
    const struct stepping *stepping = context;
    struct valued_found *found = stepping->found;
    int sign = stepping->step->forward ? 1 : -1;
    (void)group;
    found->of++;
    if (sign * call_place_compare(place, &stepping->step->from) <= 0 ||
        (found->found && sign * call_place_compare(place, &found->place) >= 0))
        return;
    found->place = *place;
    found->found = true;
}

static void count_up_to(void *context, uint32_t group, const struct call_place *place)
{
    struct valued_found *found = ((const struct stepping *)context)->found;
    (void)group;
    found->ordinal += call_place_compare(place, &found->place) <= 0;
}

bool valued_search_step(const struct trace_index *index, const struct valued_step *step,
                        struct valued_found *found, struct error *error)
{
    struct stepping stepping = {step, found};
    *found = (struct valued_found){0};
    return visit_calls(index, step->condition, is_stepped, offer, &stepping, error) &&
           (!found->found ||
            visit_calls(index, step->condition, is_stepped, count_up_to, &stepping, error));
}
