/* Calls of which arguments or results were recorded (-args), and these.
 *
 * Called by the page's server and by SQL. Texts belong to the index.
 */
#ifndef MAGIC_TRACE_INDEX_VALUED_CALLS_H
#define MAGIC_TRACE_INDEX_VALUED_CALLS_H

#include "base/named_values.h"
#include "index/span_search.h"

struct valued_call {
    struct call_place place; /* without flags and reason of its end */
    uint64_t number;         /* how many spans of the track ended before it */
    uint64_t first_value;    /* of the index's values */
    uint32_t value_count;
    bool has_result; /* it is the last value */
};

/* Call `number` of index_facts.valued_calls: by track, and in each in the order of their ends. */
bool index_valued_call(const struct trace_index *index, uint64_t number, struct valued_call *call,
                       struct error *error);

/* Value `number` of index_facts.values, and whose it is among the valued calls. */
bool index_value(const struct trace_index *index, uint64_t number, struct named_value *value,
                 uint64_t *call, struct error *error);

/* All values of the call; the list is in `arena`, texts are the index's. */
bool index_values_of(const struct trace_index *index, const struct valued_call *call,
                     struct arena *arena, struct named_values *values, struct error *error);

/* The values of the call before which `number` spans of its track ended. *found: there are some. */
bool index_values_of_call(const struct trace_index *index, uint32_t track, uint64_t number,
                          struct valued_call *call, bool *found, struct error *error);

/* The same of a call by its place. Several of length zero may be at one: `begun` says how many spans of the
 * track began before the call; VALUES_OF_LAST: of several the last is meant. */
#define VALUES_OF_LAST UINT64_MAX
bool index_values_at(const struct trace_index *index, const struct call_place *place,
                     uint64_t begun, struct valued_call *call, bool *found, struct error *error);

#endif
