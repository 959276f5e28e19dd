/* What the ptrace engine has recorded, and how it is written into a recording folder.
 *
 * The ptrace supervisor fills it while it traces, and writes it when it has detached from the
 * processes.
 */
#ifndef MAGIC_TRACE_ENGINE_PTRACE_PTRACE_RECORDING_H
#define MAGIC_TRACE_ENGINE_PTRACE_PTRACE_RECORDING_H

#include "base/array.h"
#include "base/tsc.h"
#include "engine/engine.h"
#include "engine/ptrace/stepper.h"
#include "perf_event/running_process.h"
#include "recording/session.h"

struct ptrace_recording {
    const struct record_options *options;
    struct tsc_anchor start;
    uint64_t tsc_hz;
    struct running_processes processes;
    struct array steppers; /* of struct stepper *, done; owned */
    struct array hits;     /* of struct session_hit, their times still in ticks */
};

void ptrace_recording_begin(struct ptrace_recording *recording,
                            const struct record_options *options);
void ptrace_recording_free(struct ptrace_recording *recording);

/* The thread `tid` of process `pid` is about to be stepped for the first time: what it is called,
 * and what its process has mapped. */
void ptrace_recording_add_thread(struct ptrace_recording *recording, pid_t pid, pid_t tid);

/* Takes over a stepper that is done. */
void ptrace_recording_add_steps(struct ptrace_recording *recording, struct stepper *stepper);

/* A hit that counted, at `time` ticks of the stepper's clock. `passed` 0: none. */
void ptrace_recording_add_hit(struct ptrace_recording *recording, const struct session_hit *hit);

/* perf.data and session.json. */
bool ptrace_recording_write(struct ptrace_recording *recording, struct record_result *result,
                            struct error *error);

#endif
