/* The time in the traced program.
 *
 * Three clocks (docs/time.md explains them to users):
 *
 * RECORD_CLOCK_HOST is the time-stamp counter.
 *
 * RECORD_CLOCK_INSTRUCTIONS is the count of executed instructions, plus a fixed number per system
 * call: the same program gives the same times. Threads do not share it.
 *
 * RECORD_CLOCK_DEFAULT is the time-stamp counter without the time that qemu spent translating code.
 * That time is "stolen" from the program: control->stolen counts it, for all threads and processes
 * of the recording at once, and time = TSC - stolen. The plugin does not learn when qemu begins to
 * translate, only when it has finished. So of the interval from the last reading of the clock to
 * the first run of new code, the thread is charged the usual time for the work done in it; the rest
 * was stolen. Work is counted in units of cost (block_cost.h). What a unit takes is the running
 * median over intervals without translation, and only of those soon after one: a loop that has run
 * for long is in the processor's caches and branch predictors, which new code is not.
 *
 * One clock for all keeps causes before effects, and three rules keep it a clock:
 *   - a thread's time never goes back: it stands still until the others have caught up;
 *   - memory: stealing never takes the clock below a time that another thread of the process has
 *     already seen; a time stolen by two threads at once (they wait for the same lock of qemu)
 *     counts once (stolen_until);
 *   - the kernel: whoever enters it leaves its time in control->latest, whoever returns goes on
 *     from there at the earliest; the same around atomic instructions (order.h). A sleep, or a wait
 * that timed out, lasts as long as it did: what others stole meanwhile is given back.
 *
 * All of this is only about ticks; the recorder ties them to nanoseconds.
 */
#ifndef MAGIC_TRACE_RUNTIME_QEMU_PLUGIN_CLOCK_H
#define MAGIC_TRACE_RUNTIME_QEMU_PLUGIN_CLOCK_H

#include "engine/engine.h"
#include "engine/qemu/shared.h"
#include "packet/encoder.h"

#include <stdbool.h>
#include <stdint.h>

/* One thread's view of it. */
struct qemu_clock {
    struct qemu_control *control;
    enum record_clock kind;
    uint64_t floor;         /* no time before this is returned */
    uint64_t looked;        /* TSC at the last look */
    uint64_t cost_looked;   /* pt_encoder_cost then */
    uint64_t unit;          /* running median: 1024ths of a tick that a unit of cost takes */
    uint32_t samples;       /* that went into it, up to a limit */
    uint32_t age;           /* looks since the emulator worked */
    uint64_t base;          /* of RECORD_CLOCK_INSTRUCTIONS: time before the first instruction */
    uint64_t stolen_before; /* control->stolen when the kernel was entered */
};

/* A thread's first reading: its time begins at `floor` or later. `start_stolen`: qemu used all the
 * time since `floor` (it was started for an execve), so the thread's time begins at `floor`. */
void qemu_clock_begin(struct qemu_clock *clock, struct qemu_control *control, uint64_t floor,
                      bool start_stolen);

/* The time now; never less than before. */
uint64_t qemu_clock_now(struct qemu_clock *clock, const struct pt_encoder *encoder);

/* New code is about to run for the first time, or a way from one block to another is taken for the
 * first time (which qemu then links): what qemu needed for it is stolen, except that the clock
 * stays at or above `seen`, the latest time that another thread has been given. `cold`: what that
 * code will cost more than usual because it is new (block_cost.h). */
void qemu_clock_emulator_worked(struct qemu_clock *clock, const struct pt_encoder *encoder,
                                uint64_t cold, uint64_t seen);

/* Publishes the thread's time in control->latest, and continues at the latest time published by any
 * thread. Not for RECORD_CLOCK_INSTRUCTIONS. */
void qemu_clock_publish(struct qemu_clock *clock);
void qemu_clock_catch_up(struct qemu_clock *clock);

/* Around every system call. `slept`: it waited for a fixed time to pass, and that passed. */
void qemu_clock_enter_kernel(struct qemu_clock *clock, const struct pt_encoder *encoder);
void qemu_clock_leave_kernel(struct qemu_clock *clock, const struct pt_encoder *encoder,
                             bool slept);

#endif
