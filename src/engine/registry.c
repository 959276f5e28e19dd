#include "engine/registry.h"

#include "engine/perf/perf.h"
#include "engine/pt/pt.h"
#include "engine/ptrace/ptrace.h"
#include "engine/qemu/qemu.h"
#include "engine/sample/sample.h"
#include "engine/translator/translator.h"
#include "recording/flags.h"

#include <stdio.h>
#include <string.h>

/* Which engine is taken without -engine. */
enum purpose {
    TO_RUN,            /* engines that record every branch; users request samples by name */
    TO_ATTACH,         /* stepping is exact and makes a thread thousands of times slower: last */
    TO_ATTACH_TRIGGER, /* of a single call samples show next to nothing, and stepping shows all */
    TO_SAMPLE,
    PURPOSES
};

struct registered {
    const struct engine *engine;
    unsigned char place[PURPOSES]; /* 1: the best, taken where it works; 0: never by itself */
};

/* A new engine is one more row. */
/* clang-format off */
static const struct registered engines[] = {
    /* place:             run attach trigger sample */
    {&pt_engine,         {1,  1,     1,      0}},
    {&perf_engine,       {2,  2,     2,      2}},
    {&translator_engine, {3,  3,     3,      0}},
    {&qemu_engine,       {4,  0,     0,      0}},
    {&sample_engine,     {0,  4,     5,      1}},
    {&ptrace_engine,     {0,  5,     4,      0}},
};
/* clang-format on */
enum { ENGINES = sizeof engines / sizeof *engines };

static enum purpose purpose_of(enum engine_use use, const struct record_options *options)
{
    if (options->processor.sampling)
        return TO_SAMPLE;
    if (use == ENGINE_TO_RECORD)
        return TO_RUN;
    return options->triggered ? TO_ATTACH_TRIGGER : TO_ATTACH;
}

const struct engine *engine_at(size_t index)
{
    return index < ENGINES ? engines[index].engine : NULL;
}

/* NULL when no engine has that place. */
static const struct engine *engine_at_place(enum purpose purpose, size_t place)
{
    for (size_t i = 0; i < ENGINES; i++)
        if (engines[i].place[purpose] == place)
            return engines[i].engine;
    return NULL;
}

/* "qemu, pt": for messages. */
static void list_names(char *names, size_t size)
{
    size_t used = 0;
    for (size_t i = 0; i < ENGINES && used < size; i++)
        used += (size_t)snprintf(names + used, size - used, "%s%s", i ? ", " : "",
                                 engines[i].engine->name);
}

static bool records_so(const struct engine *engine, enum engine_use use)
{
    return use == ENGINE_TO_ATTACH ? engine->attach != NULL : engine->record != NULL;
}

static bool works(const struct engine *engine, struct engine_probe *probe, struct error *error)
{
    engine->probe(probe);
    return probe->available ||
           error_set(error, ERROR_UNSUPPORTED, "the %s engine does not work here: %s.%s%s",
                     engine->name, probe->why, *probe->advice ? " " : "", probe->advice);
}

static bool serves(const struct engine *engine, const struct record_options *options,
                   struct error *error)
{
    if (options->trigger.longer_than_ns && !engine->times_calls)
        return error_set(error, ERROR_UNSUPPORTED,
                         "the %s engine does not see how long a call lasts, which " FLAG_LONGER_THAN
                         " needs. The translator engine does: " FLAG_ENGINE " translator.",
                         engine->name);
    if (options->trigger.on_cpu && !engine->times_calls)
        return error_set(error, ERROR_UNSUPPORTED,
                         "the %s engine does not see when a thread is on a processor, "
                         "which " FLAG_ON_CPU " needs. The translator engine does: " FLAG_ENGINE
                         " translator.",
                         engine->name);
    if (options->wants_values && !engine->reads_values)
        return error_set(error, ERROR_UNSUPPORTED,
                         "the %s engine does not read registers, which " FLAG_ARGS
                         " needs. The translator engine does: " FLAG_ENGINE " translator.",
                         engine->name);
    if (options->bounded && !engine->records_between)
        return error_set(error, ERROR_UNSUPPORTED,
                         "the %s engine records a program from its beginning to its end, "
                         "whatever " FLAG_RECORD_FROM " and " FLAG_RECORD_UNTIL
                         " say. The translator engine can begin and end elsewhere: " FLAG_ENGINE
                         " translator.",
                         engine->name);
    if (options->selective && !engine->selects_calls)
        return error_set(error, ERROR_UNSUPPORTED,
                         "the %s engine records all that runs, whatever " FLAG_ONLY
                         " says. The translator engine can record calls of some functions "
                         "alone: " FLAG_ENGINE " translator.",
                         engine->name);
    if (options->clock != RECORD_CLOCK_DEFAULT && !engine->has_clocks)
        return error_set(error, ERROR_USAGE,
                         FLAG_CLOCK
                         " is of no use to the %s engine, which records the time of the machine. "
                         "Leave it out, or choose another engine: magic-trace doctor lists those "
                         "that work here.",
                         engine->name);
    return !engine->serves || engine->serves(options, error);
}

static bool attaches_to_all(const struct engine *engine, const struct record_options *options,
                            struct error *error)
{
    struct error reason = {0};
    for (size_t i = 0; engine->attaches_to && i < options->pid_count; i++)
        if (!engine->attaches_to(options->pids[i], &reason) && reason.code != ERROR_NOT_FOUND)
            return error_set(error, reason.code,
                             "The %s engine cannot attach to process %d: %.300s.", engine->name,
                             (int)options->pids[i], reason.text);
    return true;
}

/* Whether it works here and can do what is wanted; the reason in `error`, its own words for what it
 * uses in `why`. */
static bool suits(const struct engine *engine, const struct record_options *options,
                  struct engine_choice *choice, struct error *error)
{
    struct engine_probe probe = {0};
    if (!works(engine, &probe, error) || !serves(engine, options, error))
        return false;
    choice->engine = engine;
    snprintf(choice->why, sizeof choice->why, "%s", probe.why);
    return true;
}

static bool choose_best(struct engine_choice *choice, enum engine_use use,
                        const struct record_options *options, struct error *error)
{
    enum purpose purpose = purpose_of(use, options);
    const struct engine *engine;
    char reasons[sizeof error->text - 128] = "";
    size_t used = 0;
    for (size_t place = 1; (engine = engine_at_place(purpose, place)); place++) {
        struct error reason = {0};
        if (!records_so(engine, use))
            continue;
        if (suits(engine, options, choice, &reason)) {
            if (attaches_to_all(engine, options, &reason))
                return true;
            snprintf(choice->passed_over, sizeof choice->passed_over, "%.500s", reason.text);
        }
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
    return error_set(
        error, ERROR_USAGE,
        use == ENGINE_TO_ATTACH
            ? "the %s engine cannot attach to a process that runs already. Leave " FLAG_ENGINE
              " out."
            : "the %s engine only attaches to processes that run already. Leave " FLAG_ENGINE
              " out.",
        engine->name);
}

static bool is_named(const struct engine *engine, const char *name)
{
    return strcmp(engine->name, name) == 0 ||
           (engine->former_name && strcmp(engine->former_name, name) == 0);
}

const struct engine *engine_find(const char *name)
{
    for (size_t i = 0; i < ENGINES; i++)
        if (is_named(engines[i].engine, name))
            return engines[i].engine;
    return NULL;
}

bool engine_choose(struct engine_choice *choice, const char *name, enum engine_use use,
                   const struct record_options *options, struct error *error)
{
    *choice = (struct engine_choice){0};
    if (strcmp(name, "auto") == 0)
        return choose_best(choice, use, options, error);
    const struct engine *engine = engine_find(name);
    if (engine)
        return choose_by_name(choice, engine, use, options, error);
    char names[256];
    list_names(names, sizeof names);
    return error_set(error, ERROR_USAGE, "there is no engine called %s. There are: auto, %s.", name,
                     names);
}
