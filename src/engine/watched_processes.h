/* The processes whose breakpoints are open: where the trigger's places are in each, which changes
 * as they map files, execute programs and bear children.
 *
 * Used by breakpoints.c alone.
 */
#ifndef MAGIC_TRACE_ENGINE_WATCHED_PROCESSES_H
#define MAGIC_TRACE_ENGINE_WATCHED_PROCESSES_H

#include "engine/trigger/trigger.h"
#include "perf_event/watched_threads.h"

struct watched_processes {
    struct breakpoint_events *events; /* of which the kernel and the scope */
    const struct trigger *trigger;    /* with a name */
    struct watched_threads threads;
    struct array processes; /* of struct watched_process, by pid */
    bool armed;             /* whether breakpoints should be open */
    struct error problem;   /* while following: the first; code ERROR_NONE: none */
};

/* `events`, `rings` and `trigger` belong to the caller and outlive it. Free with
 * watched_processes_free. Armed. */
void watched_processes_begin(struct watched_processes *processes, struct breakpoint_events *events,
                             struct record_rings *rings, const struct trigger *trigger);
void watched_processes_free(struct watched_processes *processes);

/* One more, which is listened to from now on. */
bool watched_processes_add(struct watched_processes *processes, pid_t pid, struct error *error);

/* Opens the breakpoints of all processes again. */
bool watched_processes_arm(struct watched_processes *processes, struct error *error);

/* A record of the sideband, in the order of time; `round`: of struct record_origin. */
void watched_processes_handle(struct watched_processes *processes,
                              const struct perf_event_header *record, uint64_t round);

/* At how many addresses a process is watched; whether at this one. */
size_t watched_processes_places(const struct watched_processes *processes, uint32_t pid);
bool watched_processes_watch(const struct watched_processes *processes, uint32_t pid,
                             uint64_t address);

#endif
