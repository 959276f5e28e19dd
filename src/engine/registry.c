#include "engine/registry.h"

#include "engine/perf/perf.h"
#include "engine/pt/pt.h"
#include "engine/ptrace/ptrace.h"
#include "engine/qemu/qemu.h"
#include "engine/sample/sample.h"
#include "engine/translator/translator.h"

#include <stdio.h>
#include <string.h>

static const struct engine *const engines[] = {
    &pt_engine,     &perf_engine,   &translator_engine, &qemu_engine,
    &sample_engine, &ptrace_engine, NULL,
};

/* Best first. To run a program: those that record every branch; whoever would have samples instead
 * says so. */
static const struct engine *const recorders[] = {&pt_engine, &perf_engine, &qemu_engine,
                                                 &translator_engine, NULL};

/* To attach. Stepping is exact and makes a thread a thousand times slower, so it comes last... */
static const struct engine *const attachers[] = {&pt_engine, &perf_engine, &sample_engine,
                                                 &ptrace_engine, NULL};

/* ...but at a trigger: of the one call that is looked for samples tell next to nothing, and
 * stepping it tells all. */
static const struct engine *const trigger_attachers[] = {&pt_engine, &perf_engine, &ptrace_engine,
                                                         &sample_engine, NULL};

/* Those that can sample: for -sampling. */
static const struct engine *const samplers[] = {&sample_engine, &perf_engine, NULL};

static const struct engine *const *best_first(enum engine_use use,
                                              const struct record_options *options)
{
    if (options->processor.sampling)
        return samplers;
    if (use == ENGINE_TO_RECORD)
        return recorders;
    return options->triggered ? trigger_attachers : attachers;
}

const struct engine *const *engine_all(void)
{
    return engines;
}

/* "qemu, pt": for messages. */
static void list_names(char *names, size_t size)
{
    size_t used = 0;
    for (size_t i = 0; engines[i] && used < size; i++)
        used +=
            (size_t)snprintf(names + used, size - used, "%s%s", i ? ", " : "", engines[i]->name);
}

static bool records_so(const struct engine *engine, enum engine_use use)
{
    return use == ENGINE_TO_ATTACH ? engine->attach != NULL : engine->record != NULL;
}

/* Whether it works here and can do what is wanted; the reason in `error`, its own words for what it
 * uses in `why`. */
static bool suits(const struct engine *engine, const struct record_options *options,
                  struct engine_choice *choice, struct error *error)
{
    struct engine_probe probe = {0};
    engine->probe(&probe);
    if (!probe.available)
        return error_set(error, ERROR_UNSUPPORTED, "the %s engine does not work here: %s.%s%s",
                         engine->name, probe.why, *probe.advice ? " " : "", probe.advice);
    if (engine->serves && !engine->serves(options, error))
        return false;
    choice->engine = engine;
    snprintf(choice->why, sizeof choice->why, "%s", probe.why);
    return true;
}

static bool choose_best(struct engine_choice *choice, enum engine_use use,
                        const struct record_options *options, struct error *error)
{
    const struct engine *const *order = best_first(use, options);
    char reasons[sizeof error->text - 128] = "";
    size_t used = 0;
    for (size_t i = 0; order[i]; i++) {
        struct error reason = {0};
        if (!records_so(order[i], use))
            continue;
        if (suits(order[i], options, choice, &reason))
            return true;
        if (used < sizeof reasons)
            used += (size_t)snprintf(reasons + used, sizeof reasons - used, "%s%s",
                                     used ? "\n  " : "", reason.text);
    }
    return error_set(error, ERROR_UNSUPPORTED, "nothing on this machine can record that.%s%s",
                     used ? "\n  " : "", reasons);
}

static bool choose_by_name(struct engine_choice *choice, const struct engine *engine,
                           enum engine_use use, const struct record_options *options,
                           struct error *error)
{
    if (records_so(engine, use))
        return suits(engine, options, choice, error);
    return error_set(error, ERROR_USAGE,
                     use == ENGINE_TO_ATTACH
                         ? "the %s engine cannot attach to a process that runs already. Leave "
                           "-engine out."
                         : "the %s engine only attaches to processes that run already. Leave "
                           "-engine out.",
                     engine->name);
}

static bool is_called(const struct engine *engine, const char *name)
{
    return strcmp(engine->name, name) == 0 ||
           (engine->former_name && strcmp(engine->former_name, name) == 0);
}

bool engine_choose(struct engine_choice *choice, const char *name, enum engine_use use,
                   const struct record_options *options, struct error *error)
{
    *choice = (struct engine_choice){0};
    if (strcmp(name, "auto") == 0)
        return choose_best(choice, use, options, error);
    for (size_t i = 0; engines[i]; i++)
        if (is_called(engines[i], name))
            return choose_by_name(choice, engines[i], use, options, error);
    char names[256];
    list_names(names, sizeof names);
    return error_set(error, ERROR_USAGE, "there is no engine called %s. There are: auto, %s.", name,
                     names);
}
