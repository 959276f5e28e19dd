/* The sample engine: looks at the call stacks of threads so many times a second, by
 * perf_event_open(2).
 *
 * For where there is no Intel PT and emulation is too slow, or the process runs already. The
 * program runs at nearly full speed; what happens between two samples is not known.
 */
#ifndef MAGIC_TRACE_ENGINE_SAMPLE_SAMPLE_H
#define MAGIC_TRACE_ENGINE_SAMPLE_SAMPLE_H

#include "engine/engine.h"

extern const struct engine sample_engine;

#endif
