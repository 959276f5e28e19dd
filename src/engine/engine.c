#include "engine/engine.h"

#include "engine/soft/soft.h"
#include "engine/step/step.h"

#include <stdio.h>
#include <string.h>

static const struct engine *const engines[] = {&soft_engine, &step_engine, NULL};

const struct engine *const *engine_all(void)
{
    return engines;
}

/* "soft, pt": for messages. */
static void list_names(char *names, size_t size)
{
    size_t used = 0;
    for (size_t i = 0; engines[i] && used < size; i++)
        used +=
            (size_t)snprintf(names + used, size - used, "%s%s", i ? ", " : "", engines[i]->name);
}

static bool serves(const struct engine *engine, enum engine_use use)
{
    return use == ENGINE_TO_ATTACH ? engine->attach != NULL : engine->record != NULL;
}

static const struct engine *first_available(enum engine_use use, struct error *error)
{
    struct engine_probe probe = {0};
    bool asked = false;
    for (size_t i = 0; engines[i]; i++) {
        if (!serves(engines[i], use))
            continue;
        asked = true;
        engines[i]->probe(&probe);
        if (probe.available)
            return engines[i];
    }
    if (!asked) {
        error_set(error, ERROR_UNSUPPORTED,
                  "no engine of this version can record a process that runs already. Start the "
                  "program under `magic-trace run` instead.");
        return NULL;
    }
    error_set(error, ERROR_UNSUPPORTED, "no way of recording works on this machine: %s. %s",
              probe.why, probe.advice);
    return NULL;
}

const struct engine *engine_choose(const char *name, enum engine_use use, struct error *error)
{
    if (strcmp(name, "auto") == 0)
        return first_available(use, error);
    for (size_t i = 0; engines[i]; i++) {
        if (strcmp(engines[i]->name, name) != 0)
            continue;
        if (!serves(engines[i], use)) {
            error_set(error, ERROR_USAGE,
                      use == ENGINE_TO_ATTACH
                          ? "the %s engine cannot attach to a process that runs already. Leave "
                            "-engine out."
                          : "the %s engine only attaches to processes that run already. Leave "
                            "-engine out.",
                      name);
            return NULL;
        }
        struct engine_probe probe;
        engines[i]->probe(&probe);
        if (probe.available)
            return engines[i];
        error_set(error, ERROR_UNSUPPORTED, "the %s engine does not work here: %s. %s", name,
                  probe.why, probe.advice);
        return NULL;
    }
    char names[256];
    list_names(names, sizeof names);
    error_set(error, ERROR_USAGE, "there is no engine called %s. There are: auto, %s.", name,
              names);
    return NULL;
}
