/* At which times trigger hits are shown: inside the spans in which they happened.
 *
 * Timestamp disambiguation (timestamp_disambiguation.h) may show a call a little later than it was,
 * and its hit must not stay in the caller. A hit at the beginning of a function is shown with that
 * function's begin, if one of its calls has the hit's time; every other hit at its own time, but
 * not before the events that precede it.
 *
 * Called by timeline_spans.c, before hit_spans.h makes spans of the hits. Linear in the history.
 */
#ifndef MAGIC_TRACE_STACK_SPANS_MARKER_PLACEMENT_H
#define MAGIC_TRACE_STACK_SPANS_MARKER_PLACEMENT_H

#include "decode/flow.h"
#include "stack/thread_stack.h"

#include <stddef.h>

/* Changes the times, nanoseconds of the recording's clock, of those `hits` that happened in the
 * thread of `stack`, in any order. `clock` as in disambiguation_of. Hits before the thread's first
 * event are not changed. */
void marker_placement_find(const struct thread_stack *stack, const struct clock_conversion *clock,
                           struct session_hit **hits, size_t count);

#endif
