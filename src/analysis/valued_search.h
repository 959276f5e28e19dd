/* Calls of which arguments or results fulfil a condition (value_condition.h).
 *
 * Called by the page's server. Every recorded value is looked at.
 */
#ifndef MAGIC_TRACE_ANALYSIS_VALUED_SEARCH_H
#define MAGIC_TRACE_ANALYSIS_VALUED_SEARCH_H

#include "analysis/value_condition.h"
#include "index/valued_calls.h"

/* By group, how many calls fulfil the condition; of groups for which `is_wanted` is false, 0. Both have
 * an element for each of index_facts.functions. */
bool valued_search_count(const struct trace_index *index, const struct value_condition *condition,
                         const bool *is_wanted, uint64_t *calls, struct error *error);

struct valued_step {
    const struct value_condition *condition;
    struct index_tracks tracks;
    uint32_t group;
    struct call_place from;
    bool forward;
};

struct valued_found {
    struct call_place place;
    bool found;
    uint64_t ordinal; /* from 1, among those of the tracks */
    uint64_t of;
};

/* As index_next_call(), among the calls that fulfil the condition. */
bool valued_search_step(const struct trace_index *index, const struct valued_step *step,
                        struct valued_found *found, struct error *error);

#endif
