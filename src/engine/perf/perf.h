/* The engine that drives `perf record`: Intel PT, or samples with -sampling, recorded by perf.
 *
 * For machines where perf's own perf.data is wanted, or where our way of calling the kernel (the
 * engines pt and sample) does not work. perf.data is perf's as it stands; session.json lies beside
 * it.
 */
#ifndef MAGIC_TRACE_ENGINE_PERF_PERF_H
#define MAGIC_TRACE_ENGINE_PERF_PERF_H

#include "engine/engine.h"

extern const struct engine perf_engine;

#endif
