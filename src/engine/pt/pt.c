#include "engine/pt/pt.h"

#include "engine/pt/pt_recorder.h"
#include "engine/pt/pt_unit.h"
#include "engine/trigger/trigger_hits.h"
#include "perf_event/permissions.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* ---- probe ---- */

/* An error's text is "what failed. What to do." */
static void explain(struct engine_probe *probe, const struct error *error)
{
    const char *advice = strstr(error->text, ". ");
    int length = advice ? (int)(advice - error->text) : (int)strlen(error->text);
    snprintf(probe->why, sizeof probe->why, "%.*s", length, error->text);
    snprintf(probe->advice, sizeof probe->advice, "%.500s", advice ? advice + 2 : "");
}

/* Whether this user may trace: by opening an event on ourselves, which is not started. */
static bool may_trace(const struct kernel *kernel, const struct pmu *unit, struct error *error)
{
    const struct processor_options options = {.timer.kind = TIMER_LOW};
    struct perf_event_attr attributes;
    if (!pt_unit_ask(unit, &options, &attributes, error))
        return false;
    struct event_request request = {
        .what = "trace with Intel PT", .attributes = &attributes, .cpu = -1};
    int event = kernel->open_event(kernel, &attributes, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
    /* Another process traces us at this moment. */
    if (event < 0 && errno == EBUSY)
        return true;
    if (event < 0)
        return event_refused(error, kernel, &request, errno);
    close(event);
    return true;
}

void pt_probe(const struct kernel *kernel, struct engine_probe *probe)
{
    struct pmu unit;
    struct error error = {0};
    *probe = (struct engine_probe){0};
    probe->available = pt_unit_open(&unit, kernel, &error) && may_trace(kernel, &unit, &error);
    if (!probe->available) {
        explain(probe, &error);
        return;
    }
    bool exact = pmu_capability(&unit, "psb_cyc");
    snprintf(probe->why, sizeof probe->why, "Intel PT of this processor%s",
             exact ? "" : ", of an older generation: its times are coarse");
    if (event_paranoia(kernel) > -1 && !event_privileged(kernel))
        snprintf(probe->advice, sizeof probe->advice,
                 "Rings of more than some 256 KiB, and the kernel's code, need privileges: run as "
                 "root, or `sudo sysctl kernel.perf_event_paranoid=-1`.");
}

/* ---- recording ---- */

bool pt_record(const struct kernel *kernel, const struct record_options *options,
               struct record_result *result, struct error *error)
{
    struct pt_recorder recorder = {0};
    const struct live_recorder live = pt_recorder_new(&recorder);
    return live_record(kernel, &live, options, result, error);
}

bool pt_attach(const struct kernel *kernel, const struct record_options *options,
               struct record_result *result, struct error *error)
{
    struct pt_recorder recorder = {0};
    const struct live_recorder live = pt_recorder_new(&recorder);
    return live_attach(kernel, &live, options, result, error);
}

/* ---- the engine ---- */

static void probe(struct engine_probe *found)
{
    pt_probe(&kernel_real, found);
}

static bool serves(const struct record_options *options, struct error *error)
{
    return trigger_hits_served(options, pt_engine.name, error) &&
           processor_options_served(&options->processor,
                                    PROCESSOR_TIMER | PROCESSOR_SCOPE | PROCESSOR_EVENTS,
                                    pt_engine.name, error);
}

static bool record(const struct record_options *options, struct record_result *result,
                   struct error *error)
{
    return pt_record(&kernel_real, options, result, error);
}

static bool attach(const struct record_options *options, struct record_result *result,
                   struct error *error)
{
    return pt_attach(&kernel_real, options, result, error);
}

const struct engine pt_engine = {
    .name = "pt",
    .description = "Intel PT: the processor traces itself; exact, nearly at full speed",
    .manual = "Records Intel PT by itself: exact, nearly at full speed.",
    .is_hardware = true,
    .probe = probe,
    .serves = serves,
    .record = record,
    .attach = attach,
};
