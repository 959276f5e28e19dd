/* Gives every thread of a process the breakpoints: existing threads, and those that are created
 * while events are being opened.
 *
 * Threads that are created later inherit them in the kernel. breakpoint_events.h explains what can
 * be known about what a thread inherited.
 *
 * Used by watched_processes.c alone.
 */
#ifndef MAGIC_TRACE_PERF_EVENT_WATCHED_THREADS_H
#define MAGIC_TRACE_PERF_EVENT_WATCHED_THREADS_H

#include "perf_event/breakpoint_events.h"
#include "perf_event/record_layouts.h"

struct watched_threads {
    struct breakpoint_events *events;
    struct record_rings *rings;
    struct array opened; /* of struct opened_thread, by tid */
};

/* A process to be watched. */
struct process_request {
    uint32_t pid;
    const uint64_t *addresses;
    size_t count;
    size_t watched; /* all its threads have the first `watched` addresses */
    bool listen;    /* they have no sideband yet */
};

/* Both belong to the caller and outlive it. Free with watched_threads_free. */
void watched_threads_begin(struct watched_threads *threads, struct breakpoint_events *events,
                           struct record_rings *rings);
void watched_threads_free(struct watched_threads *threads);

/* Watches the threads of a process, or only its first one, depending on the scope of the events.
 * Also true when there is no such process. */
bool watched_threads_open(struct watched_threads *threads, const struct process_request *request,
                          struct error *error);

/* The sideband reports, in the order of time, that a thread was created in a process that is
 * watched as `request` says, or that one ended. `round`: of struct record_origin. */
bool watched_threads_created(struct watched_threads *threads, const struct process_request *request,
                             const struct birth_record *birth, uint64_t round, struct error *error);
void watched_threads_ended(struct watched_threads *threads, uint32_t tid);

#endif
