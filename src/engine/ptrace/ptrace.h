/* The ptrace engine: records a process that runs already, forward from the trigger, by
 * single-stepping it. Works on any x86-64 machine with debug registers; see supervisor.h for how it
 * stays harmless.
 */
#ifndef MAGIC_TRACE_ENGINE_PTRACE_PTRACE_H
#define MAGIC_TRACE_ENGINE_PTRACE_PTRACE_H

#include "engine/engine.h"

extern const struct engine ptrace_engine;

#endif
