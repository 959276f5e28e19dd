/* The step engine: records a process that runs already, forward from the trigger, by
 * single-stepping it. Works on any x86-64 machine with debug registers; see keeper.h for how it
 * stays harmless.
 */
#ifndef MAGIC_TRACE_ENGINE_STEP_STEP_H
#define MAGIC_TRACE_ENGINE_STEP_STEP_H

#include "engine/engine.h"

extern const struct engine step_engine;

#endif
