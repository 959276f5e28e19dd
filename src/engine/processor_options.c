#include "engine/processor_options.h"

#include "recording/flags.h"

#include <ctype.h>
#include <linux/perf_event.h>

const char *const timer_field_names[TIMER_FIELDS] = {
    [TIMER_CYC] = "cyc",
    [TIMER_CYC_THRESH] = "cyc_thresh",
    [TIMER_MTC] = "mtc",
    [TIMER_MTC_PERIOD] = "mtc_period",
    [TIMER_NORETCOMP] = "noretcomp",
    [TIMER_PSB_PERIOD] = "psb_period",
};

/* The periods of the first two are those of Jane Street's magic-trace. */
static const struct event_kind kinds[] = {
    {"branch-misses", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_MISSES, 50, true, false},
    {"cache-misses", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_MISSES, 1, true, false},
    {"page-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS, 1, false, false},
    {"context-switches", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CONTEXT_SWITCHES, 1, false, true},
    {"cpu-migrations", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_MIGRATIONS, 1, false, true},
};

static bool same_name(const char *name, const char *other)
{
    for (; *name && *other; name++, other++)
        if (tolower((unsigned char)(*name == '_' ? '-' : *name)) != *other)
            return false;
    return *name == *other;
}

const struct event_kind *event_kind_find(const char *name)
{
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (same_name(name, kinds[i].name))
            return &kinds[i];
    return NULL;
}

const char *event_kind_names(void)
{
    return "branch-misses, cache-misses, page-faults, context-switches, cpu-migrations";
}

static const char *first_unserved(const struct processor_options *options, unsigned served)
{
    if (options->sampling && !(served & PROCESSOR_SAMPLING))
        return FLAG_SAMPLING;
    if (options->timer.kind != TIMER_NORMAL && !(served & PROCESSOR_TIMER))
        return FLAG_TIMER_RESOLUTION;
    if (options->scope == TRACE_USER_AND_KERNEL && !(served & PROCESSOR_SCOPE))
        return FLAG_INCLUDE_KERNEL;
    if (options->scope == TRACE_KERNEL && !(served & PROCESSOR_SCOPE))
        return FLAG_KERNEL_ONLY;
    if (options->event_count > 0 && !(served & PROCESSOR_EVENTS))
        return FLAG_EVENTS;
    return NULL;
}

bool processor_options_served(const struct processor_options *options, unsigned served,
                              const char *engine, struct error *error)
{
    const char *option = first_unserved(options, served);
    if (!option)
        return true;
    return error_set(error, ERROR_USAGE,
                     "%s is of no use to the %s engine. Leave it out, or choose another engine: "
                     "magic-trace doctor lists those that work here.",
                     option, engine);
}
