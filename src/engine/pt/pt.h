/* The pt engine: the processor's own trace, Intel PT, through perf_event_open(2).
 *
 * The program runs at nearly full speed, and the past is known: at a trigger, at Ctrl-C or at the
 * end a ring holds the last moments. tracing.h opens the events, pt_recording.h writes perf.data,
 * engine/live_session.h waits.
 */
#ifndef MAGIC_TRACE_ENGINE_PT_PT_H
#define MAGIC_TRACE_ENGINE_PT_PT_H

#include "engine/engine.h"
#include "perf_event/kernel.h"

extern const struct engine pt_engine;

/* What the engine does, with a kernel of the caller's: for tests. */
void pt_probe(const struct kernel *kernel, struct engine_probe *probe);
bool pt_record(const struct kernel *kernel, const struct record_options *options,
               struct record_result *result, struct error *error);
bool pt_attach(const struct kernel *kernel, const struct record_options *options,
               struct record_result *result, struct error *error);

#endif
