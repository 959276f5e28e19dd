#include "engine/sample/sample.h"

#include "engine/live_session.h"
#include "engine/sample/sampler.h"
#include "engine/trigger/trigger_hits.h"
#include "perf_event/permissions.h"
#include "recording/flags.h"

#include <stdio.h>
#include <string.h>

/* An error's text is "what failed. What to do." */
static void explain(struct engine_probe *probe, const struct error *error)
{
    const char *advice = strstr(error->text, ". ");
    int length = advice ? (int)(advice - error->text) : (int)strlen(error->text);
    snprintf(probe->why, sizeof probe->why, "%.*s", length, error->text);
    snprintf(probe->advice, sizeof probe->advice, "%.500s", advice ? advice + 2 : "");
}

static void probe(struct engine_probe *found)
{
    const struct processor_options options = {.timer.kind = TIMER_LOW};
    struct sampling_means means;
    struct error error = {0};
    *found = (struct engine_probe){.available =
                                       sampling_means_find(&means, &kernel_real, &options, &error)};
    if (!found->available) {
        explain(found, &error);
        return;
    }
    snprintf(found->why, sizeof found->why,
             "samples of call stacks by %s; " FLAG_CALLGRAPH_MODE " is %s if not given",
             means.cycles ? "the processor's cycles" : "the kernel's clock (cpu-clock)",
             callgraph_mode_name(means.callgraph));
    if (event_paranoia(&kernel_real) > 1 && !event_privileged(&kernel_real))
        snprintf(found->advice, sizeof found->advice,
                 "The kernel's part of the stacks needs privileges: run as root, or `sudo sysctl "
                 "kernel.perf_event_paranoid=1`.");
}

static bool serves(const struct record_options *options, struct error *error)
{
    if (options->processor.timer.kind == TIMER_CUSTOM)
        return error_set(error, ERROR_USAGE,
                         FLAG_TIMER_RESOLUTION
                         " (Custom ...) is about Intel PT. For samples give Low, "
                         "Normal, High or \"(Sample ((freq 5000)))\".");
    return trigger_hits_served(options, sample_engine.name, error) &&
           processor_options_served(&options->processor,
                                    PROCESSOR_TIMER | PROCESSOR_SCOPE | PROCESSOR_SAMPLING |
                                        PROCESSOR_EVENTS,
                                    sample_engine.name, error);
}

static bool record(const struct record_options *options, struct record_result *result,
                   struct error *error)
{
    struct sampler sampler = {0};
    const struct live_recorder recorder = sampler_recorder(&sampler);
    return live_record(&kernel_real, &recorder, options, result, error);
}

static bool attach(const struct record_options *options, struct record_result *result,
                   struct error *error)
{
    struct sampler sampler = {0};
    const struct live_recorder recorder = sampler_recorder(&sampler);
    return live_attach(&kernel_real, &recorder, options, result, error);
}

const struct engine sample_engine = {
    .name = "sample",
    .description = "looks at the call stack 10,000 times a second (default), a quarter "
                   "slower; on any machine, but sees no single call",
    .samples_alone = true,
    .probe = probe,
    .serves = serves,
    .record = record,
    .attach = attach,
};
