/* The sample engine: records the call stacks of threads many times a second, by perf_event_open(2).
 *
 * For machines without Intel PT where emulation is too slow, or for processes that already run. The
 * program is a quarter slower by default; what happens between two samples is not recorded.
 */
#ifndef MAGIC_TRACE_ENGINE_SAMPLE_SAMPLE_H
#define MAGIC_TRACE_ENGINE_SAMPLE_SAMPLE_H

#include "engine/engine.h"

extern const struct engine sample_engine;

#endif
