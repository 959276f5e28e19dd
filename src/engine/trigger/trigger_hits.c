#include "engine/trigger/trigger_hits.h"

#include "base/log.h"
#include "process/debug_registers.h"
#include "recording/flags.h"
#include "recording/session.h"

static enum breakpoint_scope scope_of(const struct record_options *options)
{
    if (options->follow)
        return BREAKPOINTS_CHILDREN;
    return options->multi_thread ? BREAKPOINTS_ALL_THREADS : BREAKPOINTS_ONE_THREAD;
}

bool trigger_hits_served(const struct record_options *options, const char *engine,
                         struct error *error)
{
    if (!options->triggered || debug_registers_fire())
        return true;
    return error_set(error, ERROR_UNSUPPORTED,
                     "the %s engine cannot watch a trigger here: " DEBUG_REGISTERS_SILENT
                     ". The translator engine needs none: " FLAG_ENGINE " translator.",
                     engine);
}

bool trigger_hits_open(struct trigger_hits *hits, const struct kernel *kernel,
                       const struct record_options *options, const pid_t *pids, size_t pid_count,
                       struct error *error)
{
    *hits = (struct trigger_hits){
        .options = options,
        .conditions.trigger = &options->trigger,
        .taken = array_of(sizeof(struct session_hit)),
    };
    if (!options->trigger.name)
        return true;
    const struct breakpoints_options wanted = {
        .kernel = kernel,
        .trigger = &options->trigger,
        .pids = pids,
        .pid_count = pid_count,
        .scope = scope_of(options),
    };
    hits->breakpoints = breakpoints_open(&wanted, error);
    return hits->breakpoints != NULL;
}

/* Hits may be missing. */
static void report_trouble(struct breakpoints *breakpoints)
{
    struct error problem;
    uint64_t lost = breakpoints_lost(breakpoints);
    if (breakpoints_problem(breakpoints, &problem))
        log_warning("not everything was watched: %s", problem.text);
    if (lost)
        log_warning("%llu records of the kernel were lost, hits of the trigger perhaps: they came "
                    "faster than magic-trace could read them.",
                    (unsigned long long)lost);
}

void trigger_hits_close(struct trigger_hits *hits)
{
    if (hits->breakpoints) {
        report_trouble(hits->breakpoints);
        breakpoints_close(hits->breakpoints);
    }
    hits->breakpoints = NULL;
}

void trigger_hits_free(struct trigger_hits *hits)
{
    trigger_hits_close(hits);
    array_free(&hits->taken);
}

int trigger_hits_descriptor(const struct trigger_hits *hits)
{
    return hits->breakpoints ? breakpoints_descriptor(hits->breakpoints) : -1;
}

static uint64_t passed_time(const struct trigger_hits *hits, const struct breakpoint_hit *hit)
{
    if (!hits->options->trigger.passes_time || !hits->clock.mult)
        return 0;
    uint64_t passed =
        clock_to_nanoseconds(&hits->clock, (struct ticks){trigger_passed_time(hit->arguments[0])})
            .value;
    return passed < hit->time ? passed : 0;
}

bool trigger_hits_next(struct trigger_hits *hits)
{
    struct breakpoint_hit hit;
    while (hits->breakpoints && breakpoints_next(hits->breakpoints, &hit)) {
        hits->seen++;
        uint64_t passed = passed_time(hits, &hit);
        if (!trigger_hit_counts(&hits->conditions, hit.time, passed))
            continue;
        *(struct session_hit *)array_add(&hits->taken) = (struct session_hit){
            .time = hit.time,
            .passed = passed,
            .argument = trigger_passed_argument(hit.arguments[1]),
            .has_argument = hits->options->trigger.passes_time,
            .address = hit.ip,
            .pid = hit.pid,
            .tid = hit.tid,
        };
        return true;
    }
    return false;
}

void trigger_hits_report_delay(struct trigger_hits *hits)
{
    log_status("Waiting for delay over threshold. Max delay since last report: %.3f ms",
               (double)hits->conditions.longest_delay / 1e6);
    hits->conditions.longest_delay = 0;
}
