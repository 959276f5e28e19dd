#include "engine/pt/pause.h"

#include "base/log.h"
#include "engine/trigger/trigger_addresses.h"
#include "perf_event/event_attributes.h"
#include "perf_event/threads.h"
#include "recording/flags.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

/* A breakpoint's event wakes us, and we end the recording. On a virtual machine of two cores that took 42 to 75 us in nine of ten
 * cases, and 2 ms where another program had the processor. */
#define GOES_ON                                                                                    \
    "The recording goes on until magic-trace has noticed the hit: some ten microseconds, on a "    \
    "busy machine some milliseconds."

/* attr.aux_action, which older headers call reserved, follows this field. */
enum {
    AUX_ACTION_OFFSET = offsetof(struct perf_event_attr, aux_sample_size) + sizeof(uint32_t),
    AUX_PAUSE = 1 << 1,
};

bool pause_wanted(const struct record_options *options)
{
    const struct trigger *trigger = &options->trigger;
    if (!trigger->immediate_stop)
        return false;
    bool first_counts =
        !trigger->multi_snapshot && !trigger->duration_threshold_ns && !trigger->delay_threshold_ns;
    if (!first_counts)
        log_warning(FLAG_IMMEDIATE_STOP
                    " has no effect with " FLAG_MULTI_SNAPSHOT ", " FLAG_DURATION_THRESHOLD
                    " or " FLAG_DELAY_THRESHOLD
                    " here: the processor cannot check which hits count. " GOES_ON);
    return first_counts;
}

static struct perf_event_attr attributes_at(const struct tracing *tracing, uint64_t address)
{
    const struct perf_event_attr *packets = &tracing->packets.attributes;
    struct perf_event_attr attributes = breakpoint_attributes(address);
    attributes.inherit = packets->inherit;
    attributes.inherit_thread = packets->inherit_thread;
    const uint32_t action = AUX_PAUSE;
    memcpy((char *)&attributes + AUX_ACTION_OFFSET, &action, sizeof action);
    return attributes;
}

/* 0 or an errno. */
static int open_beside(struct pause *pause, const struct tracing *tracing,
                       const struct event_ring *ring, const struct ring_event *leader,
                       uint64_t address)
{
    const struct kernel *kernel = tracing->kernel;
    struct perf_event_attr attributes = attributes_at(tracing, address);
    int cpu = ring->cpu == UINT32_MAX ? -1 : (int)ring->cpu;
    int event = kernel->open_event(kernel, &attributes, leader->tid, cpu, leader->descriptor,
                                   PERF_FLAG_FD_CLOEXEC);
    if (event < 0)
        return errno == ESRCH ? 0 : errno;
    *(int *)array_add(&pause->descriptors) = event;
    return 0;
}

static int open_at(struct pause *pause, const struct tracing *tracing, const struct array *tids,
                   uint64_t address)
{
    int problem = 0;
    for (size_t i = 0; !problem && i < tracing->packets.rings.count; i++) {
        const struct event_ring *ring = event_ring_at(&tracing->packets, i);
        for (size_t j = 0; !problem && j < ring->events.count; j++)
            if (threads_contain(tids, ring_event_at(ring, j)->tid))
                problem = open_beside(pause, tracing, ring, ring_event_at(ring, j), address);
    }
    return problem;
}

static void warn(int problem)
{
    struct utsname system;
    uname(&system);
    if (problem == ENOSPC)
        log_warning(FLAG_IMMEDIATE_STOP
                    " has no effect: the processor has no debug register left to "
                    "pause with. " GOES_ON);
    else
        log_warning(FLAG_IMMEDIATE_STOP
                    " has no effect: this kernel (%s) cannot pause Intel PT at an "
                    "instruction (%s); Linux 6.13 or later can. " GOES_ON,
                    system.release, strerror(problem));
}

void pause_begin(struct pause *pause)
{
    pause->descriptors = array_of(sizeof(int));
}

void pause_add(struct pause *pause, const struct tracing *tracing, pid_t pid)
{
    struct array addresses = array_of(sizeof(uint64_t)), tids = array_of(sizeof(uint32_t));
    threads_list(&tids, NULL, tracing->kernel, pid);
    trigger_addresses(&addresses, &tracing->options->trigger, tracing->kernel->proc, pid);
    int problem = 0;
    for (size_t i = 0; !problem && i < addresses.count; i++)
        problem = open_at(pause, tracing, &tids, *(uint64_t *)array_at(&addresses, i));
    if (problem)
        warn(problem);
    else if (!addresses.count)
        log_warning(FLAG_IMMEDIATE_STOP
                    " has no effect: %s is in a library that is not loaded yet. " GOES_ON,
                    tracing->options->trigger.name);
    array_free(&addresses);
    array_free(&tids);
}

void pause_close(struct pause *pause)
{
    for (size_t i = 0; i < pause->descriptors.count; i++)
        close(*(int *)array_at(&pause->descriptors, i));
    array_free(&pause->descriptors);
}
