/* When the hits of the trigger are shown: inside of the spans in which they happened.
 *
 * Spreading (timestamp_disambiguation.h) may show a call a little later than it was, and a hit must not be left
 * behind in the caller. A hit at the beginning of a function is shown when that function is, if one
 * of its calls has the hit's time; every other hit at its own time, but not before what happened
 * until then.
 *
 * Called by timeline_spans.c, before hit_spans.h makes spans of the hits. Linear in the history.
 */
#ifndef MAGIC_TRACE_STACK_SPANS_MARKER_PLACEMENT_H
#define MAGIC_TRACE_STACK_SPANS_MARKER_PLACEMENT_H

#include "decode/flow.h"
#include "stack/thread_stack.h"

#include <stddef.h>

/* Moves the times of `hits`, nanoseconds of the recording's clock, of those that happened in the
 * thread of `stack`, in any order. `clock` as in disambiguation_of. Those before its first event stay. */
void marker_placement_find(const struct thread_stack *stack, const struct clock_conversion *clock,
                           struct session_hit **hits, size_t count);

#endif
