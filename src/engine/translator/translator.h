/* The translator engine: the program's own instructions run from a code cache, in copies that log
 * the path that they take.
 *
 * What runs inside the traced processes is the runtime (runtime/translator/); the two share the
 * arena (arena.h). This side starts the program and loads the runtime into it (inject.h), does the
 * same for what traced programs execute (exec_requests.h), and makes Intel PT packets and perf.data
 * of the logs. docs/translator.md has the whole.
 */
#ifndef MAGIC_TRACE_ENGINE_TRANSLATOR_TRANSLATOR_H
#define MAGIC_TRACE_ENGINE_TRANSLATOR_TRANSLATOR_H

#include "engine/engine.h"

extern const struct engine translator_engine;

#endif
