/* One run of perf record, from its start to its end; waits for events without polling where perf
 * allows it.
 *
 *     STARTING   until perf's events are open: known by an acknowledgement, or, without a control
 *                channel, because perf waits for them
 *     RECORDING  until the traced processes have ended, or the user or the trigger ends it
 *     STOPPING   until perf has written its data and has ended
 *     ENDED
 *
 * perf counts as hanging if for some time (10 s; MAGIC_TRACE_PERF_PATIENCE sets the number) it
 * neither answers nor works: it gets SIGTERM, and if it still does nothing, SIGKILL. Whatever
 * happens to perf, the traced program continues.
 *
 * Without threads; called by perf.c, whose callbacks are called from perf_recorder_wait().
 */
#ifndef MAGIC_TRACE_ENGINE_PERF_PERF_RECORDER_H
#define MAGIC_TRACE_ENGINE_PERF_PERF_RECORDER_H

#include "base/array.h"
#include "engine/perf/perf_arguments.h"
#include "engine/perf/perf_control.h"
#include "engine/perf/perf_process.h"
#include "engine/trigger/trigger_hits.h"
#include "process/program_signals.h"

enum perf_phase {
    PERF_STARTING,
    PERF_RECORDING,
    PERF_SNAPSHOTTING, /* of STOPPING: without a control channel, until the snapshot is written */
    PERF_STOPPING,
    PERF_ENDED,
};

struct perf_recorder {
    struct perf_request request;
    const struct signals *signals;
    struct program_signals *program; /* that we have started; NULL: none */
    struct trigger_hits *hits;       /* of the trigger, set when perf is ready; NULL: none */
    uint64_t snapshots;              /* that hits have had taken */
    uint64_t delay_reported_ns;      /* CLOCK_MONOTONIC */
    struct perf_process perf;
    struct perf_control control;
    enum perf_phase phase;
    struct array targets;  /* of int, of pidfd_of: the traced processes; -1: it has ended */
    bool program_ended;    /* its descriptor said so */
    bool program_lingers;  /* it still runs, a second after perf has ended */
    unsigned interrupts;   /* Ctrl-C */
    bool ready;            /* it was recording, once */
    bool stop_wanted;      /* we have asked it to end */
    unsigned signals_sent; /* to a perf that hangs: SIGTERM, SIGKILL */
    /* CLOCK_MONOTONIC: when to see whether perf still works, whether it still records when the processes have ended (-follow), or, when
     * it has ended itself, whether the program goes on. 0: never. */
    uint64_t deadline_ns;
    uint64_t seen_work; /* that it had done until then */
    uint64_t patience_ns;
};

/* Starts perf. `program` is held, or NULL; the request's pids are watched too. On an error nothing
 * is left to free. */
bool perf_recorder_start(struct perf_recorder *recorder, const struct perf_request *request,
                         const struct signals *signals, struct program_signals *program,
                         struct error *error);

/* Waits for the next event and handles it. */
void perf_recorder_wait(struct perf_recorder *recorder);

/* Waits until perf is ready. False when it will never be; it has ended then. */
bool perf_recorder_wait_until_ready(struct perf_recorder *recorder);

/* Takes a snapshot now; perf continues. */
void perf_recorder_snapshot(struct perf_recorder *recorder);

/* Ends the recording; the last snapshot is of now. */
void perf_recorder_stop(struct perf_recorder *recorder);

/* The same, and waits until perf has ended. */
void perf_recorder_finish(struct perf_recorder *recorder);

/* How perf ended, when it has: false, with its own words, when that was not as it should be. */
bool perf_recorder_verdict(const struct perf_recorder *recorder, struct error *error);

/* perf must have ended. */
void perf_recorder_free(struct perf_recorder *recorder);

#endif
