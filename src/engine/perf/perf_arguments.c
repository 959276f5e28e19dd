#include "engine/perf/perf_arguments.h"

#include "base/array.h"
#include "base/memory.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PAGE = 4096 }; /* of x86 */
enum { LOW_FREQUENCY = 1000, NORMAL_FREQUENCY = 10000 };

__attribute__((format(printf, 2, 3))) static void add(struct array *arguments, const char *format,
                                                      ...)
{
    char *word = NULL;
    va_list values;
    va_start(values, format);
    if (vasprintf(&word, format, values) < 0)
        abort();
    va_end(values);
    *(char **)array_add(arguments) = word;
}

/* ---- what is wanted ---- */

static bool samples(const struct perf_request *request)
{
    return request->options->processor.sampling;
}

enum perf_snapshot perf_request_snapshot(const struct perf_request *request)
{
    if (request->options->full_execution)
        return PERF_SNAPSHOT_NONE;
    if (samples(request))
        return PERF_SNAPSHOT_OVERWRITE;
    return perf_has_exit_snapshot(request->machine->version) ? PERF_SNAPSHOT_AT_EXIT
                                                             : PERF_SNAPSHOT_ON_SIGNAL;
}

bool perf_request_switches_output(const struct perf_request *request)
{
    if (!request->options->trigger.multi_snapshot)
        return false;
    switch (perf_request_snapshot(request)) {
    case PERF_SNAPSHOT_NONE:
        return false;
    case PERF_SNAPSHOT_OVERWRITE:
        return true;
    default:
        /* With a control channel perf puts all snapshots of a trace into one file. */
        return !perf_has_control(request->machine->version);
    }
}

static bool traces_kernel(const struct perf_request *request)
{
    return request->options->processor.scope != TRACE_USER;
}

bool perf_request_copies_kernel(const struct perf_request *request)
{
    return traces_kernel(request) && !samples(request) && !request->machine->no_kcore &&
           perf_has_kcore(request->machine->version);
}

/* One ring per thread, which new threads have no part in; else one per processor. */
static bool one_ring_per_thread(const struct perf_request *request)
{
    const struct record_options *options = request->options;
    /* perf cannot map the rings of more than one event per thread beside those of Intel PT. */
    return !options->multi_thread && !options->follow && options->processor.event_count == 0;
}

static bool lacks_cycle_packets(const struct perf_request *request)
{
    enum timer_kind kind = request->options->processor.timer.kind;
    return !samples(request) && !request->machine->cycle_packets &&
           (kind == TIMER_NORMAL || kind == TIMER_HIGH);
}

unsigned perf_request_shortcomings(const struct perf_request *request)
{
    unsigned shortcomings = 0;
    if (lacks_cycle_packets(request))
        shortcomings |= PERF_LACKS_CYCLE_PACKETS;
    if (traces_kernel(request) && !samples(request) && !perf_has_kcore(request->machine->version))
        shortcomings |= PERF_LACKS_KCORE;
    if (perf_request_snapshot(request) == PERF_SNAPSHOT_ON_SIGNAL)
        shortcomings |= PERF_LACKS_EXIT_SNAPSHOT;
    if (samples(request) && !request->machine->cycles)
        shortcomings |= PERF_LACKS_CYCLES;
    if (request->options->follow && !request->options->multi_thread)
        shortcomings |= PERF_FOLLOWS_THREADS;
    return shortcomings;
}

/* ---- events ---- */

static const char *selector(const struct perf_request *request)
{
    static const char *const selectors[] = {
        [TRACE_USER] = "u", [TRACE_USER_AND_KERNEL] = "uk", [TRACE_KERNEL] = "k"};
    return selectors[request->options->processor.scope];
}

/* The fields of a custom resolution, "cyc=1,mtc=0". */
static char *custom_fields(const struct timer_resolution *timer)
{
    char text[128] = "";
    size_t used = 0;
    for (unsigned i = 0; i < TIMER_FIELDS; i++)
        if (timer->given[i])
            used += (size_t)snprintf(text + used, sizeof text - used, "%s%s=%u", used ? "," : "",
                                     timer_field_names[i], timer->values[i]);
    return memory_copy_string(text);
}

static char *trace_fields(const struct perf_request *request)
{
    const struct timer_resolution *timer = &request->options->processor.timer;
    if (timer->kind == TIMER_CUSTOM)
        return custom_fields(timer);
    if (timer->kind == TIMER_LOW || lacks_cycle_packets(request))
        return memory_copy_string("");
    return memory_format("cyc=1,cyc_thresh=1,mtc_period=0%s",
                         timer->kind == TIMER_HIGH ? ",noretcomp=1" : "");
}

static uint64_t frequency(const struct perf_request *request)
{
    const struct timer_resolution *timer = &request->options->processor.timer;
    uint64_t wanted = timer->kind == TIMER_SAMPLE ? timer->frequency
                      : timer->kind == TIMER_LOW  ? LOW_FREQUENCY
                                                  : NORMAL_FREQUENCY;
    uint64_t most = request->machine->sample_rate;
    if (timer->kind == TIMER_HIGH)
        return most ? most : NORMAL_FREQUENCY;
    /* perf refuses to begin when it is asked for more than the kernel allows. */
    return timer->kind != TIMER_SAMPLE && most && wanted > most ? most : wanted;
}

/* perf takes the kernel's records of new mappings from the first event. They must not be
 * overwritten, so if the rings are, the first event is a dummy with a ring of its own. */
static char *primary_event(const struct perf_request *request)
{
    if (!samples(request)) {
        char *fields = trace_fields(request);
        char *event = memory_format("intel_pt/%s/%s", fields, selector(request));
        free(fields);
        return event;
    }
    bool overwrite = perf_request_snapshot(request) == PERF_SNAPSHOT_OVERWRITE;
    return memory_format("%s%s/freq=%llu%s/%s", overwrite ? "dummy:u," : "",
                         request->machine->cycles ? "cycles" : "cpu-clock",
                         (unsigned long long)frequency(request), overwrite ? ",overwrite" : "",
                         selector(request));
}

static char *extra_event(const struct perf_request *request, const struct extra_event *event)
{
    static const char *const precisions[] = {"", "p", "pp", "ppp", [EVENT_PRECISION_HIGHEST] = "P"};
    return memory_format("%s/%s=%llu/%s%s", event->kind->name,
                         event->by_frequency ? "freq" : "period", (unsigned long long)event->count,
                         event->kind->in_kernel ? "" : selector(request),
                         precisions[event->precision]);
}

static void add_events(struct array *arguments, const struct perf_request *request)
{
    const struct processor_options *wanted = &request->options->processor;
    char *list = primary_event(request);
    for (size_t i = 0; i < wanted->event_count; i++) {
        char *event = extra_event(request, &wanted->events[i]);
        char *longer = memory_format("%s,%s", list, event);
        free(event);
        free(list);
        list = longer;
    }
    add(arguments, "--event=%s", list);
    free(list);
}

/* ---- the rest ---- */

static void add_targets(struct array *arguments, const struct perf_request *request)
{
    if (one_ring_per_thread(request))
        add(arguments, "--per-thread");
    if (request->options->follow)
        add(arguments, "--inherit"); /* or -t leaves out what the thread starts (perf-record(1)) */
    add(arguments, request->options->multi_thread ? "-p" : "-t");
    char *list = memory_copy_string("");
    for (size_t i = 0; i < request->pid_count; i++) {
        char *longer = memory_format("%s%s%d", list, i ? "," : "", (int)request->pids[i]);
        free(list);
        list = longer;
    }
    add(arguments, "%s", list);
    free(list);
}

/* Of Intel PT the size is that of the trace, of samples that of the only ring there is. Who is not
 * privileged has only so much memory to lock, of which perf knows how much. */
static void add_size(struct array *arguments, const struct perf_request *request)
{
    const struct record_options *options = request->options;
    if (!options->sized && !request->machine->privileged)
        return;
    add(arguments, samples(request) ? "-m%llu" : "-m,%llu",
        (unsigned long long)(options->snapshot_size / PAGE));
}

static void add_call_graph(struct array *arguments, const struct perf_request *request)
{
    switch (request->options->processor.callgraph) {
    case CALLGRAPH_DEFAULT:
        add(arguments, "--call-graph=%s", request->machine->branch_stack ? "lbr" : "dwarf");
        return;
    case CALLGRAPH_LBR:
    case CALLGRAPH_LBR_NO_STITCH: /* how they are put together is decided when they are decoded */
        add(arguments, "--call-graph=lbr");
        return;
    case CALLGRAPH_DWARF:
        add(arguments, "--call-graph=dwarf");
        return;
    case CALLGRAPH_FRAME_POINTERS:
        add(arguments, "--call-graph=fp");
    }
}

char **perf_arguments(const struct perf_request *request)
{
    struct array arguments = array_of(sizeof(char *));
    add(&arguments, "%s", request->machine->perf);
    add(&arguments, "record");
    add(&arguments, "-o");
    add(&arguments, "%s", request->output);
    add(&arguments, "--timestamp");
    add_events(&arguments, request);
    if (perf_request_switches_output(request))
        add(&arguments, "--switch-output=signal");
    add_targets(&arguments, request);
    if (perf_request_snapshot(request) == PERF_SNAPSHOT_ON_SIGNAL)
        add(&arguments, "--snapshot");
    if (perf_request_snapshot(request) == PERF_SNAPSHOT_AT_EXIT)
        add(&arguments, "--snapshot=e");
    if (perf_has_control(request->machine->version))
        add(&arguments, "--control=fd:%d,%d", request->control, request->acks);
    if (perf_request_copies_kernel(request))
        add(&arguments, "--kcore");
    add_size(&arguments, request);
    if (samples(request))
        add_call_graph(&arguments, request);
    array_add(&arguments);
    return arguments.elements;
}

void perf_arguments_free(char **arguments)
{
    for (char **word = arguments; word && *word; word++)
        free(*word);
    free(arguments);
}
