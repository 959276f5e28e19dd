#include "engine/ptrace/stepper.h"

#include "base/memory.h"
#include "base/tsc.h"
#include "engine/ptrace/breakpoint.h"
#include "process/thread_wait.h"

#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>

enum {
    NANOSECONDS_PER_INSTRUCTION = 1,
    STEPS_AT_ONCE = 100, /* then others have a look */
    PSB_INTERVAL = 4096,
    INSTRUCTION_CLOCK_START = 1 << 20, /* perf takes time 0 for "no time" */
};

/* ---- packets ---- */

static uint64_t time_now(struct pt_encoder_owner *owner)
{
    struct stepper *stepper = (struct stepper *)(void *)owner;
    if (stepper->options.clock == RECORD_CLOCK_HOST)
        return tsc_now();
    uint64_t instructions = pt_encoder_instructions(&stepper->encoder);
    if (stepper->options.clock == RECORD_CLOCK_INSTRUCTIONS)
        return stepper->start + instructions;
    uint64_t price = stepper->options.tsc_hz / 1000 * NANOSECONDS_PER_INSTRUCTION;
    return stepper->start + stepper->kernel_ticks +
           (uint64_t)((unsigned __int128)instructions * price / 1000000);
}

static bool make_room(struct pt_encoder_owner *owner)
{
    (void)owner;
    return false; /* what fits is what was asked for */
}

static uint64_t peek(pid_t tid, uint64_t address)
{
    errno = 0;
    return (uint64_t)ptrace(PTRACE_PEEKDATA, tid, (void *)(uintptr_t)address, NULL);
}

/* ---- what stepping would change in the thread ---- */

enum { TRAP_FLAG = 0x100 }; /* of RFLAGS: set while a thread is stepped */

static void forget_trap_flag(pid_t tid, uint64_t address)
{
    uint64_t flags = peek(tid, address);
    if (errno == 0 && (flags & TRAP_FLAG))
        ptrace(PTRACE_POKEDATA, tid, (void *)(uintptr_t)address, (void *)(flags & ~TRAP_FLAG));
}

/* The flags as an instruction or a system call shows them to the program: with the flag that makes
 * it trap, which would stay with it when we have left. */
static void hide_trap_flag(const struct stepper *stepper, const struct user_regs_struct *registers)
{
    if (stepper->entered_kernel && (registers->r11 & TRAP_FLAG))
        ptrace(PTRACE_POKEUSER, stepper->tid, (void *)offsetof(struct user, regs.r11),
               (void *)(registers->r11 & ~TRAP_FLAG));
    else if (stepper->block && stepper->done + 1 == stepper->block->instructions &&
             code_cache_pushes_flags(stepper->block) && registers->rip != stepper->pc)
        forget_trap_flag(stepper->tid, registers->rsp);
}

static bool has_trap(uint64_t mask)
{
    return mask >> (SIGTRAP - 1) & 1;
}

/* Each trap takes SIGTRAP out of the mask of a thread that blocks it (force_sig() in the kernel's
 * kernel/signal.c). What the program will make of its mask is read from what it gives to the
 * kernel. */
static void follow_mask(struct stepper *stepper)
{
    enum { SIGNAL_FRAME_MASK = 296 }; /* offsetof(struct ucontext, uc_sigmask), asm/ucontext.h */
    struct user_regs_struct registers;
    if (ptrace(PTRACE_GETREGS, stepper->tid, NULL, &registers) != 0)
        return;
    if (registers.rax == SYS_rt_sigreturn) {
        stepper->blocks_traps = has_trap(peek(stepper->tid, registers.rsp + SIGNAL_FRAME_MASK));
    } else if (registers.rax == SYS_rt_sigprocmask && registers.rsi) {
        bool named = has_trap(peek(stepper->tid, registers.rsi));
        if (registers.rdi == SIG_SETMASK)
            stepper->blocks_traps = named;
        else if (named)
            stepper->blocks_traps = registers.rdi == SIG_BLOCK;
    }
}

static void read_mask(struct stepper *stepper)
{
    uint64_t mask;
    if (ptrace(PTRACE_GETSIGMASK, stepper->tid, (void *)sizeof mask, &mask) == 0)
        stepper->blocks_traps = has_trap(mask);
}

static void restore_mask(const struct stepper *stepper)
{
    uint64_t mask;
    if (!stepper->blocks_traps ||
        ptrace(PTRACE_GETSIGMASK, stepper->tid, (void *)sizeof mask, &mask) != 0)
        return;
    mask |= (uint64_t)1 << (SIGTRAP - 1);
    ptrace(PTRACE_SETSIGMASK, stepper->tid, (void *)sizeof mask, &mask);
}

/* Whose flag it is the kernel forgets when popf is stepped (enable_single_step() in its
 * arch/x86/kernel/step.c): then it does not take it back when stepping ends, and the thread would
 * die of the next trap. */
static void clear_trap_flag(pid_t tid)
{
    void *flags = (void *)offsetof(struct user, regs.eflags);
    errno = 0;
    long value = ptrace(PTRACE_PEEKUSER, tid, flags, NULL);
    if (errno == 0 && (value & TRAP_FLAG))
        ptrace(PTRACE_POKEUSER, tid, flags, (void *)(value & ~(long)TRAP_FLAG));
}

void stepper_clean(const struct stepper *stepper)
{
    restore_mask(stepper);
    clear_trap_flag(stepper->tid);
}

/* ---- beginning and end ---- */

void stepper_begin(struct stepper *stepper, pid_t tid, struct code_cache *code,
                   const struct stepper_options *options, const struct user_regs_struct *registers)
{
    *stepper = (struct stepper){
        .owner = {.time = time_now, .make_room = make_room},
        .options = *options,
        .code = code,
        .tid = tid,
        .pc = registers->rip,
        .entry_stack = registers->rsp,
        .return_address = peek(tid, registers->rsp),
        .start = options->clock == RECORD_CLOCK_INSTRUCTIONS ? INSTRUCTION_CLOCK_START : tsc_now(),
    };
    stepper->packets = memory_allocate(options->size + PT_ENCODER_SLACK);
    stepper->encoder.packets = stepper->packets;
    stepper->encoder.mask = UINT64_MAX;
    stepper->encoder.limit = options->size;
    stepper->encoder.owner = &stepper->owner;
    stepper->encoder.stop = &stepper->never_stops;
    pt_encoder_begin(&stepper->encoder, options->bus_ratio, PSB_INTERVAL);
    read_mask(stepper);
}

void stepper_finish(struct stepper *stepper)
{
    /* As a signal would end it: with the branch that led here, which no block has shown yet. */
    pt_encoder_interrupt(&stepper->encoder, stepper->pc, stepper->block != NULL);
    pt_encoder_stop_at(&stepper->encoder, stepper->pc);
}

void stepper_free(struct stepper *stepper)
{
    free(stepper->packets);
}

/* ---- steps ---- */

/* The thread is about to run the instruction at pc. False when there is no code that could be
 * followed. */
static bool enter_block(struct stepper *stepper)
{
    stepper->block = code_cache_get(stepper->code, stepper->pc);
    stepper->done = 0;
    if (!stepper->block)
        return false;
    if (!pt_encoder_step_fast(&stepper->encoder, stepper->block))
        pt_encoder_step_slow(&stepper->encoder, stepper->block);
    return true;
}

static bool is_last(const struct stepper *stepper)
{
    return stepper->done + 1 == stepper->block->instructions;
}

static uint64_t end_of_instruction(const struct stepper *stepper)
{
    uint64_t end = stepper->block->pc;
    for (unsigned i = 0; i <= stepper->done; i++)
        end += stepper->block->length[i];
    return end;
}

/* One instruction was carried out, and the thread stands at `pc`. */
static void advance(struct stepper *stepper, uint64_t pc)
{
    if (is_last(stepper) && (pc != stepper->pc || stepper->block->kind != PT_BLOCK_SEQUENTIAL))
        stepper->block = NULL;
    else if (pc == end_of_instruction(stepper))
        stepper->done++;
    stepper->pc = pc;
}

static bool has_returned(const struct stepper *stepper, const struct user_regs_struct *registers)
{
    return stepper->options.until_return && registers->rsp > stepper->entry_stack;
}

static bool may_change_code(long number)
{
    return number == SYS_mmap || number == SYS_munmap || number == SYS_mprotect ||
           number == SYS_mremap || number == SYS_pkey_mprotect;
}

/* A signal's handler runs in place of the next instruction, or of the one that raised it. */
static void note_signal(struct stepper *stepper, const siginfo_t *info)
{
    stepper->signal = info->si_signo;
    /* Within a block it got exactly this far, whether an instruction raised the signal or another
     * process sent it. */
    pt_encoder_interrupt(&stepper->encoder, stepper->pc, stepper->block != NULL);
    stepper->block = NULL;
}

static enum stepper_state finish_here(struct stepper *stepper)
{
    stepper_finish(stepper);
    return STEPPER_DONE;
}

/* The thread has stopped after a step. */
static enum stepper_state look(struct stepper *stepper, int status)
{
    if (!WIFSTOPPED(status) || status >> 16 == PTRACE_EVENT_EXEC)
        return STEPPER_GONE;
    if (status >> 16 == PTRACE_EVENT_STOP && WSTOPSIG(status) != SIGTRAP) {
        ptrace(PTRACE_LISTEN, stepper->tid, NULL, NULL); /* stopped by SIGSTOP: it stays so */
        return STEPPER_IN_KERNEL;
    }
    if (status >> 16 != 0) /* a new thread or process: the step is not finished */
        return STEPPER_STOPPED;
    siginfo_t info = {0};
    struct user_regs_struct registers;
    if (ptrace(PTRACE_GETREGS, stepper->tid, NULL, &registers) != 0 ||
        ptrace(PTRACE_GETSIGINFO, stepper->tid, NULL, &info) != 0)
        return STEPPER_GONE;
    if (WSTOPSIG(status) != SIGTRAP) {
        note_signal(stepper, &info);
        return STEPPER_STOPPED;
    }
    if (info.si_code == BREAKPOINT_SIGNAL_CODE)
        return STEPPER_STOPPED; /* recursion: the instruction is still to be carried out */
    if (info.si_code == SIGTRAP)
        read_mask(stepper); /* before a handler: the signal was not forced */
    restore_mask(stepper);
    if (registers.eflags & TRAP_FLAG)
        clear_trap_flag(stepper->tid);
    hide_trap_flag(stepper, &registers);
    if (stepper->entered_kernel) {
        stepper->kernel_ticks += tsc_now() - stepper->entered_kernel;
        stepper->entered_kernel = 0;
        if (may_change_code((long)registers.orig_rax) || may_change_code((long)registers.rax))
            code_cache_forget(stepper->code);
        stepper->block = NULL;
        stepper->pc = registers.rip;
    } else if (stepper->block) {
        advance(stepper, registers.rip);
    } else {
        stepper->pc = registers.rip;
    }
    if (has_returned(stepper, &registers) || stepper->encoder.stopped)
        return finish_here(stepper);
    return STEPPER_STOPPED;
}

/* Whether the next instruction enters the kernel, and may stay there. */
static bool enters_kernel(const struct stepper *stepper)
{
    return stepper->block->kind == PT_BLOCK_FAR && is_last(stepper);
}

/* Lets the thread carry out one instruction. */
static bool let_step(struct stepper *stepper)
{
    int signal = stepper->signal;
    stepper->signal = 0;
    return ptrace(PTRACE_SINGLESTEP, stepper->tid, NULL, (void *)(intptr_t)signal) == 0;
}

enum stepper_state stepper_run(struct stepper *stepper)
{
    for (int steps = 0; steps < STEPS_AT_ONCE; steps++) {
        bool delivering = stepper->signal != 0;
        if (!delivering && !stepper->block && !enter_block(stepper))
            return finish_here(stepper);
        if (stepper->encoder.stopped)
            return STEPPER_DONE;
        if (!delivering && enters_kernel(stepper)) {
            pt_encoder_disable(&stepper->encoder);
            follow_mask(stepper);
            stepper->entered_kernel = tsc_now();
            return let_step(stepper) ? STEPPER_IN_KERNEL : STEPPER_GONE;
        }
        int status;
        if (!let_step(stepper) || !thread_wait(stepper->tid, &status))
            return STEPPER_GONE;
        enum stepper_state state = look(stepper, status);
        if (state != STEPPER_STOPPED)
            return state;
    }
    return STEPPER_STOPPED;
}

enum stepper_state stepper_go_on(struct stepper *stepper, int status)
{
    enum stepper_state state = look(stepper, status);
    if (state != STEPPER_STOPPED)
        return state;
    if (stepper->entered_kernel) { /* still in the system call */
        return let_step(stepper) ? STEPPER_IN_KERNEL : STEPPER_GONE;
    }
    return stepper_run(stepper);
}
