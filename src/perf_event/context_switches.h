/* The kernel's records of when threads are switched to a processor and off it (PERF_RECORD_SWITCH).
 *
 * One event that counts nothing, for each watched thread and processor; threads and processes that a
 * watched thread creates are watched, too. Of one's own processes that needs no privilege while
 * perf_event_paranoid is 2 or less. The records arrive in one ring per processor.
 *
 * Used by engines whose packets are made in software. Not for use by two threads at a time.
 *
 * Source: perf_event_open(2), "PERF_RECORD_SWITCH", "use_clockid".
 */
#ifndef MAGIC_TRACE_PERF_EVENT_CONTEXT_SWITCHES_H
#define MAGIC_TRACE_PERF_EVENT_CONTEXT_SWITCHES_H

#include "base/array.h"
#include "base/error.h"
#include "perf_event/event_rings.h"
#include "perf_event/kernel.h"

#include <stdbool.h>
#include <stdint.h>

struct context_switch {
    uint64_t time; /* CLOCK_MONOTONIC, nanoseconds */
    uint32_t tid;  /* as this process's pid namespace numbers it */
    uint32_t cpu;
    bool out;       /* off the processor; else to it */
    bool preempted; /* of out: it could have run on (Linux 4.17); else it waits */
};

struct context_switches {
    struct array processors; /* of int */
    struct event_rings rings;
    uint64_t lost; /* records that found no room in a ring */
};

/* Watches no thread yet. Close in any case; a struct that is all zero may be closed, too. */
bool context_switches_begin(struct context_switches *switches, const struct kernel *kernel,
                            struct error *error);
void context_switches_close(struct context_switches *switches);

/* Watches a thread, or all threads that a process has. False: the kernel refuses. */
bool context_switches_watch_thread(struct context_switches *switches, uint32_t tid,
                                   struct error *error);
bool context_switches_watch_process(struct context_switches *switches, uint32_t pid,
                                    struct error *error);

/* Waits until there is much to read, but no longer than that. May be called while another thread watches or reads. */
void context_switches_wait(const struct context_switches *switches, unsigned milliseconds);

typedef void context_switch_handler(void *context, const struct context_switch *record);

/* Calls `handle` for all records that are there now: in the order of time for each thread's stay on
 * one processor, in no order across processors. */
void context_switches_read(struct context_switches *switches, context_switch_handler *handle,
                           void *context);

#endif
