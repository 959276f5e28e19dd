/* Intel PT tracing as a recorder of live_session.h: opens it, drains it, takes snapshots, makes the
 * processor pause at the trigger, and restarts events whose area was full.
 */
#ifndef MAGIC_TRACE_ENGINE_PT_PT_RECORDER_H
#define MAGIC_TRACE_ENGINE_PT_PT_RECORDER_H

#include "engine/live_session.h"
#include "engine/pt/pause.h"
#include "engine/pt/pt_recording.h"

struct pt_recorder {
    const struct live_target *target; /* NULL: not open */
    struct tracing tracing;
    struct pt_recording recording;
    struct pause pause;
    int timer;        /* a timerfd: it is time to let go on once more; -1: not open */
    unsigned retries; /* remaining repetitions of the restart */
};

/* All zero before. `recorder` outlives what is returned. */
struct live_recorder pt_recorder_new(struct pt_recorder *recorder);

#endif
