/* A recording with Intel PT while it goes on: waits for what can happen, drains the rings, takes
 * the snapshots.
 *
 * Nothing is looked at twice for nothing: the session sleeps until the kernel says that a ring is
 * filling, a process has ended, a trigger was hit or a signal has come.
 */
#ifndef MAGIC_TRACE_ENGINE_PT_PT_SESSION_H
#define MAGIC_TRACE_ENGINE_PT_PT_SESSION_H

#include "engine/program_signals.h"
#include "engine/pt/hits.h"
#include "engine/pt/pause.h"
#include "engine/pt/pt_recording.h"

struct pt_session {
    const struct record_options *options; /* borrowed */
    struct program_signals *program;      /* that was started by us; NULL: attached */
    const struct signals *signals;
    struct array processes; /* of int, pidfds of the processes that have not ended; owned */
    struct tracing tracing;
    struct pt_recording recording;
    struct hits hits;
    struct pause pause;
    bool recorded;          /* perf.data is complete, and nothing is traced any more */
    bool interrupted;       /* by a signal */
    bool said_to_wait;      /* that the program goes on after Ctrl-C */
    int retries;            /* how often stopped events are to be let go on yet */
    uint64_t delay_told_ms; /* when the longest delay was told last: CLOCK_MONOTONIC */
    struct record_result *result;
};

/* Opens everything, but packets are not being written yet. `directory` is absolute and outlives the
 * session. On an error nothing is left. */
bool pt_session_open(struct pt_session *session, const struct kernel *kernel,
                     const struct record_options *options, const pid_t *pids, size_t pid_count,
                     const char *directory, struct error *error);

/* If the options want it, has the processor stop at the trigger in the processes, which are what
 * they will be: a program of ours has been executed. */
void pt_session_pause_at_trigger(struct pt_session *session, const pid_t *pids, size_t pid_count);

/* Traces until the snapshot is taken, a signal has come or all processes have ended; a program of
 * ours is waited for in any case. Then perf.data is complete. */
bool pt_session_run(struct pt_session *session, struct error *error);

/* Frees everything; without pt_session_run perf.data is removed, too. */
void pt_session_close(struct pt_session *session);

#endif
