/* The engines there are, and which of them to take.
 *
 * Called by the command line. A new engine is a folder of its own and a row in registry.c.
 */
#ifndef MAGIC_TRACE_ENGINE_REGISTRY_H
#define MAGIC_TRACE_ENGINE_REGISTRY_H

#include "engine/engine.h"

/* By number, from 0; NULL after the last. */
const struct engine *engine_at(size_t index);

/* By name or former name; NULL if not found. */
const struct engine *engine_find(const char *name);

/* What an engine is wanted for. */
enum engine_use { ENGINE_TO_RECORD, ENGINE_TO_ATTACH };

/* An engine, and why it. */
struct engine_choice {
    const struct engine *engine;
    char why[512];         /* what it uses: engine_probe's why */
    char passed_over[512]; /* why a better one does not attach to a process; "" */
};

/* By name; "auto" is the best that is available for that use and serves the options. False, with
 * the reasons of each and advice in `error`, when no engine can. */
bool engine_choose(struct engine_choice *choice, const char *name, enum engine_use use,
                   const struct record_options *options, struct error *error);

#endif
