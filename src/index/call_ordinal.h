/* Calls of a function by number: `f#804` is its 804th, by start, then depth, then track.
 *
 * Called for what the user names, and to name what is shown. What lies before the call's bucket
 * (call_buckets.h) is not read, so the time that an answer takes hardly grows with the trace; but the number of a call among
 * those of some tracks is counted from the beginning.
 */
#ifndef MAGIC_TRACE_INDEX_CALL_ORDINAL_H
#define MAGIC_TRACE_INDEX_CALL_ORDINAL_H

#include "index/span_search.h"

/* The number of the calls of `group` in the tracks up to `call`, itself included. */
bool index_call_ordinal(const struct trace_index *index, struct index_tracks tracks, uint32_t group,
                        const struct call_place *call, uint64_t *ordinal, struct error *error);

/* The numbers of several calls, of different groups, in one reading. A call that is NULL has none: 0. */
bool index_call_ordinals(const struct trace_index *index, const struct call_place *const *calls,
                         size_t count, uint64_t *ordinals, struct error *error);

/* The call with this number, from 1. ERROR_NOT_FOUND: there are fewer. */
bool index_nth_call(const struct trace_index *index, uint32_t group, uint64_t ordinal,
                    struct call_place *call, struct error *error);

#endif
