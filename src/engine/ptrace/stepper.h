/* One thread, stepped instruction by instruction, and its packets.
 *
 * The thread is stopped under ptrace when stepping begins and whenever a function here returns,
 * except with STEPPER_IN_KERNEL: then it is in a system call, and the ptrace supervisor calls
 * stepper_go_on when waitpid reports that it has stopped again.
 *
 * Time: the time-stamp counter when stepping began, plus a fixed time per instruction, plus the
 * real length of system calls: stepping is thousands of times slower than running, and its own time
 * means nothing (docs/time.md).
 */
#ifndef MAGIC_TRACE_ENGINE_PTRACE_STEPPER_H
#define MAGIC_TRACE_ENGINE_PTRACE_STEPPER_H

#include "engine/engine.h"
#include "engine/ptrace/code_cache.h"

#include <sys/user.h>

struct stepper_options {
    enum record_clock clock;
    uint64_t tsc_hz;
    uint8_t bus_ratio;
    uint64_t size;     /* bytes of packets at most */
    bool until_return; /* of the function whose first instruction the thread stands at */
};

struct stepper {
    struct pt_encoder_owner owner; /* first: the encoder's owner pointer leads here */
    struct pt_encoder encoder;
    struct stepper_options options;
    struct code_cache *code;
    pid_t tid;
    uint8_t *packets;            /* owned */
    struct pt_code_block *block; /* that runs now */
    uint16_t done;               /* instructions of it */
    uint64_t pc;                 /* of the next instruction */
    uint64_t entry_stack;        /* the slot of the return address */
    uint64_t return_address;
    uint64_t start, kernel_ticks, entered_kernel; /* ticks */
    _Atomic uint32_t never_stops;
    bool blocks_traps; /* the program itself has SIGTRAP in its mask */
    int signal;        /* to be delivered with the next step */
};

enum stepper_state {
    STEPPER_IN_KERNEL,
    STEPPER_STOPPED, /* it was stopped to let other threads run */
    STEPPER_DONE,    /* returned, or full: the stream has ended in order; the thread is stopped */
    STEPPER_GONE,    /* the thread has ended, or became another program */
};

/* The thread stands at `registers`. */
void stepper_begin(struct stepper *stepper, pid_t tid, struct code_cache *code,
                   const struct stepper_options *options, const struct user_regs_struct *registers);

/* Steps until something other than the next instruction happens. */
enum stepper_state stepper_run(struct stepper *stepper);

/* The thread, which was in the kernel, has stopped with `status` (as from waitpid). */
enum stepper_state stepper_go_on(struct stepper *stepper, int status);

/* The thread has stopped and will be released: removes the state that stepping has left in it. */
void stepper_clean(const struct stepper *stepper);

/* Ends the stream where the thread stands. */
void stepper_finish(struct stepper *stepper);
void stepper_free(struct stepper *stepper);

#endif
