/* What a trace's times mean, in a sentence: which recorder took it, by which clock, and how far
 * computing is from native speed.
 *
 * And whether it is known when threads were not running.
 *
 * Used by the timeline, which gives it to everything that shows the trace, so that nobody takes
 * emulated time for native time. What was measured: docs/time.md.
 */
#ifndef MAGIC_TRACE_STACK_RECORDED_WORDS_H
#define MAGIC_TRACE_STACK_RECORDED_WORDS_H

#include "base/arena.h"
#include "decode/flow.h"

/* In the arena. `has_switches`: the recording has context switches. NULL for a session that does not say which
 * engine it was. */
const char *recorded_words(struct arena *arena, const struct session *session, bool has_switches);

#endif
