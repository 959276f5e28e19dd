#include "runtime/translator/lock.h"
#include "runtime/translator/signals/signal.h"

#include "runtime/translator/code/code_pages.h"
#include "runtime/translator/code/fragment.h"
#include "runtime/translator/fault_safe.h"
#include "runtime/translator/log/clock.h"
#include "runtime/translator/log/copied_stacks.h"
#include "runtime/translator/log/log.h"
#include "runtime/translator/log/sideband.h"
#include "runtime/translator/selected_calls.h"
#include "runtime/translator/signals/signal_actions.h"
#include "runtime/translator/signals/signal_frame.h"
#include "runtime/translator/signals/signal_set.h"
#include "runtime/translator/system.h"

#include <asm/errno.h>
#include <asm/processor-flags.h>
#include <asm/unistd.h>

/* enter.S */
__attribute__((visibility("hidden"))) void tr_resume_from_handler(void);
__attribute__((visibility("hidden"))) void tr_jump_to_target(void);
/* safe_syscall.S */
_Noreturn void tr_kernel_sigreturn(struct tr_signal_frame *frame);

enum {
    PAGE_FAULT_WRITE = 2, /* SDM volume 3, 4.7: error code */
    SYSCALL_SIZE = 2,
};

/* What a handler blocks while it runs. */
static uint64_t handler_mask(const struct tr_action *action, int signal)
{
    uint64_t own = action->flags & SA_NODEFER ? 0 : signal_bit(signal);
    return (action->mask & ~unblockable_signals) | own;
}

/* ---- the master handler ---- */

static bool is_in_runtime(uint64_t pc)
{
    return pc - tr_process.image < tr_process.image_size;
}

static bool is_at_program_code(uint64_t pc)
{
    return !is_in_runtime(pc) && !tr_in_cache(pc);
}

/* Signals that were sent by a system call of the thread itself arrive right after it. */
static bool is_after_syscall(uint64_t pc)
{
    const uint8_t *before = (const uint8_t *)pc - SYSCALL_SIZE;
    return is_in_runtime(pc) && before[0] == 0x0f && before[1] == 0x05;
}

/* Raised by the instruction at pc, not sent. */
static bool is_fault(const siginfo_t *info, uint64_t pc)
{
    if (!is_synchronous(info->si_signo) || info->si_code <= 0 || is_after_syscall(pc))
        return false;
    return !(info->si_signo == SIGBUS && info->si_code == BUS_MCEERR_AO) &&
           !(info->si_signo == SIGTRAP && info->si_code == TRAP_PERF);
}

/* A signal is pending: a system call that has not been made yet is not made. A call that was stopped (SIGSTOP) and
 * would be continued by restart_syscall ends with EINTR, as after sigreturn. */
static void refuse_syscall(struct sigcontext *context)
{
    uint64_t instruction = (uint64_t)tr_syscall_instruction;
    if (context->rip < (uint64_t)tr_syscall_check || context->rip > instruction)
        return;
    if (context->rip == instruction && context->rax == __NR_restart_syscall) {
        context->rip = (uint64_t)tr_syscall_made;
        context->rax = (uint64_t)-EINTR;
        return;
    }
    context->rip = (uint64_t)tr_syscall_refused;
}

/* There is room for one of each synchronous signal that was sent: a second one is lost while the first is pending, as
 * in the kernel. */
static void hold(struct tr_thread *thread, const siginfo_t *info)
{
    struct tr_signals_of_thread *signals = &thread->signals;
    int signal = info->si_signo;
    bool blocked = signals->mask & signal_bit(signal),
         awaited = signals->awaited & signal_bit(signal);
    signals->ignored = true;
    if (!blocked && signals->actions[signal - 1].handler == TR_IGNORE)
        return;
    if (!(signals->held & signal_bit(signal))) {
        memcpy(signals->held_info[synchronous_index(signal)], info, TR_SIGNAL_INFO);
        __atomic_fetch_or(&signals->held, signal_bit(signal), __ATOMIC_SEQ_CST);
    }
    if (blocked && !awaited)
        return;
    tr_set_held_pending(signals);
}

/* The runtime goes on with the program's state in thread->app, and delivers. */
static void resume_in_runtime(struct tr_thread *thread, struct ucontext *context)
{
    context->uc_sigmask = ~synchronous_signals;
    context->uc_mcontext.rip = (uint64_t)tr_resume_from_handler;
    context->uc_mcontext.rsp = thread->hot.stack;
    context->uc_mcontext.eflags &= ~(uint64_t)(X86_EFLAGS_DF | X86_EFLAGS_TF | X86_EFLAGS_AC);
}

/* A filter of the program's (seccomp) raises SIGSYS instead of a system call. It means the program's calls; one of the
 * runtime's own fails. */
static void handle_filtered_call(struct tr_thread *thread, siginfo_t *info,
                                 struct sigcontext *context)
{
    if (context->rip != (uint64_t)tr_syscall_made) {
        context->rax = (uint64_t)-ENOSYS;
        return;
    }
    info->si_call_addr = (void *)thread->app.pc;
    tr_force_signal(&thread->signals, SIGSYS, info);
}

/* A signal that was sent. At the program's own code, where an instruction runs that the translator
 * left to the processor, it is delivered at once: that instruction may be a trap, which does not
 * happen again. */
static void keep(struct tr_thread *thread, siginfo_t *info, struct ucontext *context)
{
    struct tr_signals_of_thread *signals = &thread->signals;
    if (is_synchronous(info->si_signo)) {
        hold(thread, info);
    } else {
        memcpy(signals->info, info, TR_SIGNAL_INFO);
        signals->pending_is_fault = false;
        signals->pending = info->si_signo;
        context->uc_sigmask = ~synchronous_signals;
    }
    if (signals->pending == 0)
        return;
    thread->hot.limit = 0;
    thread->hot.run = 0;
    refuse_syscall(&context->uc_mcontext);
    if (is_at_program_code(context->uc_mcontext.rip)) {
        tr_frame_registers(&thread->app, &context->uc_mcontext);
        resume_in_runtime(thread, context);
    } else if (tr_selected_was_leaving(thread)) {
        resume_in_runtime(thread, context);
    }
}

static void raise_fault(struct tr_thread *thread, siginfo_t *info, const struct sigcontext *context)
{
    struct tr_signals_of_thread *signals = &thread->signals;
    if (info->si_signo != SIGSEGV && info->si_signo != SIGBUS &&
        (uint64_t)info->si_addr == context->rip)
        info->si_addr = (void *)thread->app.pc;
    signals->trap_number = context->trapno;
    signals->error_code = context->err;
    signals->fault_address = context->cr2;
    memcpy(signals->info, info, TR_SIGNAL_INFO);
    signals->pending_is_fault = true;
    signals->pending = info->si_signo;
}

static bool is_code_write(struct tr_thread *thread, const siginfo_t *info,
                          const struct sigcontext *context, uint64_t writer)
{
    return info->si_signo == SIGSEGV && (context->err & PAGE_FAULT_WRITE) &&
           tr_code_written(thread, context->cr2, writer);
}

/* A fault that is neither the program's nor expected of the runtime: its default action ends the process at once. */
static void give_up(int signal)
{
    static const struct tr_action by_default = {.handler = TR_DEFAULT};
    tr_debug("translator: a fault that is not the program's, signal", (uint64_t)signal);
    tr_set_kernel_action(signal, &by_default);
}

/* The program has set its own trap flag: a POPF that has just run, or an instruction after it. */
static bool is_step(const siginfo_t *info, const struct sigcontext *registers)
{
    return info->si_signo == SIGTRAP && info->si_code == TRAP_TRACE &&
           (registers->eflags & X86_EFLAGS_TF);
}

/* The processor traps after the instruction that follows POPF: where that is one of the runtime's own, the program's has not run. A POPF
 * ends with this byte; where another instruction does, one trap is left out. */
static bool has_only_set_flag(uint64_t pc)
{
    enum { POPF = 0x9d };
    uint8_t byte;
    return tr_read_safely(&byte, pc - 1, sizeof byte) && byte == POPF;
}

/* In the runtime itself, which the program's next instruction has led to. The thread leaves at its next limit. */
static void stop_stepping(struct tr_thread *thread, struct sigcontext *registers)
{
    registers->eflags &= ~(uint64_t)X86_EFLAGS_TF;
    thread->steps = thread->let_go = true;
    thread->hot.limit = thread->hot.run = 0;
}

/* The log pointer is in r11 where the log is written. */
static bool is_log_full(struct tr_thread *thread, struct sigcontext *registers)
{
    uint64_t log = thread->hot.log;
    thread->hot.log = registers->r11;
    bool is_full = tr_log_is_guard(thread, registers->cr2);
    if (is_full)
        registers->r11 = thread->hot.log;
    else
        thread->hot.log = log;
    return is_full;
}

/* Whether a write to `address` changes the fragment that it is part of. */
static bool changes_own_fragment(uint64_t cache_pc, uint64_t address)
{
    enum { LARGEST_STORE = 64 };
    return tr_fragment_at_is_of(cache_pc, address, address + LARGEST_STORE);
}

static void handle_fault_in_cache(struct tr_thread *thread, siginfo_t *info,
                                  struct ucontext *context)
{
    struct sigcontext *registers = &context->uc_mcontext;
    struct tr_state state;
    unsigned block;
    bool may_be_log = info->si_signo == SIGSEGV || info->si_signo == SIGBUS;
    if (may_be_log && is_log_full(thread, registers))
        return;
    tr_frame_registers(&state, registers);
    tr_lock(&thread->process->lock);
    bool found = tr_find_state(thread, &state, &block);
    bool changes_itself = found && changes_own_fragment(registers->rip, registers->cr2);
    tr_unlock(&thread->process->lock);
    if (is_code_write(thread, info, registers, found ? state.pc : 0)) {
        if (!changes_itself)
            return;
        tr_code_writes_itself(thread, registers->cr2);
        thread->app = state;
        thread->partial_block = block + 1;
        resume_in_runtime(thread, context);
        return;
    }
    if (!found && is_step(info, registers)) {
        stop_stepping(thread, registers);
        return;
    }
    if (!found && info->si_signo == SIGTRAP) {
        keep(thread, info, context);
        return;
    }
    if (!found) {
        give_up(info->si_signo);
        return;
    }
    thread->app = state;
    thread->partial_block = block + 1;
    bool steps = is_step(info, registers);
    bool is_raised = !(steps && has_only_set_flag(state.pc));
    if (steps)
        thread->steps = thread->let_go = true;
    if (is_raised && thread->signals.pending == 0)
        raise_fault(thread, info, registers);
    resume_in_runtime(thread, context);
}

/* When a sent signal is pending already, thread->app still is the state before the instruction, which will run again: it
 * may be a trap, and the processor is past it now. */
static void handle_fault_at_program_code(struct tr_thread *thread, siginfo_t *info,
                                         struct ucontext *context)
{
    if (thread->selected.native &&
        is_code_write(thread, info, &context->uc_mcontext, context->uc_mcontext.rip))
        return;
    if (thread->signals.pending == 0) {
        tr_frame_registers(&thread->app, &context->uc_mcontext);
        raise_fault(thread, info, &context->uc_mcontext);
    }
    resume_in_runtime(thread, context);
}

/* The program has branched to an address that is not canonical. The processor refuses that at the branch (SDM volume 1, 3.3.7.1), which
 * is the runtime's here: tr_escape's, with all registers of the program. */
static bool is_escape(const struct tr_thread *thread, uint64_t pc)
{
    return thread->escaped && pc == (uint64_t)tr_jump_to_target;
}

static void handle_fault(struct tr_thread *thread, siginfo_t *info, struct ucontext *context)
{
    struct sigcontext *registers = &context->uc_mcontext;
    uint64_t pc = registers->rip;
    /* Finding the state and mending a write read the program's memory. */
    tr_set_kernel_mask(~synchronous_signals);
    if (tr_is_fault_safe(pc)) {
        if (!is_code_write(thread, info, registers, 0))
            registers->rip = (uint64_t)tr_fault_safe_failed;
    } else if (tr_in_cache(pc)) {
        handle_fault_in_cache(thread, info, context);
    } else if (is_escape(thread, pc)) {
        registers->rip = thread->app.pc;
        handle_fault_at_program_code(thread, info, context);
    } else if (is_in_runtime(pc) && is_step(info, registers)) {
        stop_stepping(thread, registers);
    } else if (is_in_runtime(pc)) {
        give_up(info->si_signo);
    } else {
        handle_fault_at_program_code(thread, info, context);
    }
}

/* Until the thread has gone on natively, which sets its signal mask. */
static void put_off(siginfo_t *info, struct ucontext *context)
{
    tr_queue_again(info->si_signo, info);
    context->uc_sigmask = all_signals;
}

/* A signal for a thread that goes on natively while others still need our dispositions. The kernel's
 * frame is what the program's handler is to find; the kernel enters it, too, by sigreturn from a second
 * frame, with the signal mask that belongs to it. (The frame lies on the program's sigaltstack, if it
 * has one, whether or not its handler asks for that.) */
static _Noreturn void enter_handler_natively(siginfo_t *info, struct ucontext *context,
                                             const struct tr_action *action)
{
    struct tr_signal_frame entry = {.context = *context};
    struct sigcontext *registers = &entry.context.uc_mcontext;
    uint64_t frame = (uint64_t)context - offsetof(struct tr_signal_frame, context);
    ((struct tr_signal_frame *)frame)->restorer = action->restorer;
    registers->rdi = (uint64_t)info->si_signo;
    registers->rsi = (uint64_t)info;
    registers->rdx = (uint64_t)context;
    registers->rax = 0;
    registers->rsp = frame;
    registers->rip = action->handler;
    registers->eflags &= ~(uint64_t)(X86_EFLAGS_DF | X86_EFLAGS_RF | X86_EFLAGS_TF);
    registers->fpstate = NULL; /* the initial one */
    entry.context.uc_sigmask |= handler_mask(action, info->si_signo);
    if ((uint32_t)context->uc_stack.ss_flags & SS_AUTODISARM)
        entry.context.uc_stack = (stack_t){.ss_flags = SS_DISABLE};
    tr_kernel_sigreturn(&entry);
}

static void handle_natively(siginfo_t *info, struct ucontext *context)
{
    int signal = info->si_signo;
    struct tr_action action = tr_take_action(tr_process.actions, signal);
    bool is_raised = is_synchronous(signal) && info->si_code > 0;
    if (action.handler > TR_IGNORE)
        enter_handler_natively(info, context, &action);
    if (is_raised || action.handler == TR_DEFAULT)
        give_up(signal);
    if (!is_raised && action.handler == TR_DEFAULT)
        tr_queue_again(signal, info);
}

void tr_master_handler(int signal, void *info_, void *context_)
{
    siginfo_t *info = info_;
    struct ucontext *context = context_;
    struct tr_thread *thread = tr_thread_here();
    bool leaves = thread ? thread->signals.leaves : is_in_runtime(context->uc_mcontext.rip);
    if (leaves && !is_synchronous(signal)) {
        put_off(info, context);
        return;
    }
    if (!thread) {
        handle_natively(info, context);
        return;
    }
    tr_frame_learn(&thread->signals, &context->uc_mcontext);
    if (tr_selected_signal(thread, info, context))
        return;
    if (signal == SIGSYS && info->si_code == SYS_SECCOMP)
        handle_filtered_call(thread, info, &context->uc_mcontext);
    else if (is_fault(info, context->uc_mcontext.rip))
        handle_fault(thread, info, context);
    else if (signal != SIGTRAP || !thread->signals.learns)
        keep(thread, info, context);
}

/* ---- delivery ---- */

struct occurrence {
    int signal;
    bool is_fault;
    uint8_t info[TR_SIGNAL_INFO] __attribute__((aligned(8)));
};

/* With all signals blocked but the synchronous ones. Those come first, as in the kernel (next_signal of
 * kernel/signal.c). */
static bool take_pending(struct tr_signals_of_thread *signals, struct occurrence *occurrence)
{
    tr_forget_held_pending(
        signals); /* cleared before it is read: a signal that comes later sets it again */
    uint64_t held = tr_deliverable(signals);
    int signal = __atomic_load_n(&signals->pending, __ATOMIC_RELAXED);
    if (signal == TR_PENDING_HELD) /* sent since; it stays pending, and is taken next */
        signal = 0;
    occurrence->is_fault = signal && signals->pending_is_fault;
    if (held && !occurrence->is_fault) {
        occurrence->signal = lowest_signal(held);
        occurrence->is_fault = tr_take_held(signals, occurrence->signal, occurrence->info);
        return true;
    }
    if (!signal)
        return false;
    occurrence->signal = signal;
    memcpy(occurrence->info, signals->info, TR_SIGNAL_INFO);
    signals->pending = 0;
    return true;
}

/* As natively: the kernel ends the process with the program's registers, at the program's
 * instruction. */
static _Noreturn void die(struct tr_thread *thread, struct occurrence *occurrence)
{
    static const struct tr_action by_default = {.handler = TR_DEFAULT};
    tr_sideband_death(thread, tr_time(thread), occurrence->signal, thread->app.pc);
    tr_log_stop(thread, TR_SLOT_ENDED, thread->app.pc);
    tr_set_kernel_mask(~synchronous_signals | signal_bit(occurrence->signal));
    tr_set_kernel_action(occurrence->signal, &by_default);
    tr_queue_again(occurrence->signal, occurrence->info);
    thread->signals.mask &= ~signal_bit(occurrence->signal);
    tr_signal_return_natively(thread);
}

/* force_sig(SIGSEGV) of kernel/signal.c. */
static void force_segmentation_fault(struct occurrence *occurrence)
{
    *occurrence = (struct occurrence){.signal = SIGSEGV, .is_fault = true};
    siginfo_t *info = (siginfo_t *)(void *)occurrence->info;
    info->si_signo = SIGSEGV;
    info->si_code = SI_KERNEL;
}

struct delivery {
    struct tr_thread *thread;
    bool in_fragment; /* the newest log entry is a fragment that was left in its middle */
    bool handled;     /* a handler runs next */
};

/* Stacks of fibers and the alternate one may lie side by side. */
static void note_other_stack(struct tr_signals_of_thread *signals, uint64_t from, uint64_t to)
{
    bool alternate = tr_on_alt_stack(signals, to) && !tr_on_alt_stack(signals, from);
    if (!alternate && from - to < TR_SAME_STACK)
        return;
    signals->other_stack_entry = to;
    signals->other_stack_from = from;
    signals->other_stack_room = alternate ? to - signals->alt_start : TR_SAME_STACK;
}

static void log_handler(struct delivery *delivery, int signal, const struct tr_action *action,
                        const struct tr_state *before)
{
    struct tr_thread *thread = delivery->thread;
    if (delivery->in_fragment)
        tr_log_partial(thread, before->pc);
    const uint64_t values[] = {tr_time(thread), before->pc, before->r[TR_RSP],
                               thread->app.r[TR_RSP], action->handler};
    tr_log_event(thread, TR_HANDLER, (uint32_t)signal, values, sizeof values / sizeof *values);
    delivery->in_fragment = false;
    delivery->handled = true;
}

/* signal_delivered of kernel/signal.c. */
static void change_to_handler(struct tr_signals_of_thread *signals, int signal,
                              const struct tr_action *action)
{
    signals->mask |= handler_mask(action, signal);
    signals->restores_mask = false;
    if (signals->alt_flags & SS_AUTODISARM) {
        signals->alt_start = signals->alt_size = 0;
        signals->alt_flags = SS_DISABLE;
    }
}

/* False: the handler's frame cannot be made. */
static bool deliver_one(struct delivery *delivery, struct occurrence *occurrence)
{
    struct tr_thread *thread = delivery->thread;
    struct tr_signals_of_thread *signals = &thread->signals;
    int signal = occurrence->signal;
    bool blocked = signals->mask & signal_bit(signal);
    if (blocked && !occurrence->is_fault) { /* by a handler that has just been entered */
        tr_queue_again(signal, occurrence->info);
        return true;
    }
    struct tr_action action = tr_take_action(signals->actions, signal);
    if (occurrence->is_fault && (blocked || action.handler == TR_IGNORE))
        die(thread, occurrence);
    if (action.handler == TR_IGNORE)
        return true;
    if (action.handler == TR_DEFAULT && dies_in_runtime(signal))
        die(thread, occurrence);
    if (action.handler ==
        TR_DEFAULT) { /* the program changed the disposition after it was caught */
        tr_queue_again(signal, occurrence->info);
        return true;
    }
    struct tr_state before = thread->app;
    if (!tr_frame_push(thread, signal, occurrence->info, &action,
                       signals->restores_mask ? signals->saved_mask : signals->mask))
        return false;
    note_other_stack(signals, before.r[TR_RSP], thread->app.r[TR_RSP]);
    change_to_handler(signals, signal, &action);
    log_handler(delivery, signal, &action, &before);
    return true;
}

/* force_sigsegv of kernel/signal.c. */
static void deliver(struct delivery *delivery, struct occurrence *occurrence)
{
    while (!deliver_one(delivery, occurrence)) {
        bool was_segmentation_fault = occurrence->signal == SIGSEGV;
        force_segmentation_fault(occurrence);
        if (was_segmentation_fault)
            die(delivery->thread, occurrence);
    }
}

static void restore_saved_mask(struct tr_signals_of_thread *signals)
{
    if (signals->restores_mask)
        signals->mask = signals->saved_mask;
    signals->restores_mask = false;
}

bool tr_signal_deliver(struct tr_thread *thread, bool in_fragment)
{
    struct tr_signals_of_thread *signals = &thread->signals;
    struct delivery delivery = {.thread = thread, .in_fragment = in_fragment};
    if (signals->pending == 0)
        return false;
    do {
        struct occurrence occurrence;
        if (signals->pending == TR_PENDING_HELD) /* else they are blocked since it was caught */
            tr_set_kernel_mask(~synchronous_signals);
        while (take_pending(signals, &occurrence))
            deliver(&delivery, &occurrence);
        restore_saved_mask(signals);
        tr_notice_held(signals);
    } while (!tr_unblock_unless_pending(signals, signals->mask) || signals->pending != 0);
    return delivery.handled;
}

static void refuse_frame(struct tr_thread *thread)
{
    struct occurrence occurrence;
    thread->app.r[TR_RAX] = 0;
    force_segmentation_fault(&occurrence);
    tr_force_signal(&thread->signals, SIGSEGV, occurrence.info);
}

void tr_log_restored(struct tr_thread *thread)
{
    struct ucontext context;
    if (!tr_frame_read(thread, &context))
        return;
    uint64_t pointers[] = {thread->app.r[TR_RSP], context.uc_mcontext.rsp};
    tr_log_event(thread, TR_RESTORED, 0, pointers, 2);
}

/* A signal that was caught comes before the return: the frame's mask may block it. */
void tr_sys_rt_sigreturn(struct tr_thread *thread)
{
    struct ucontext context;
    thread->app.r[TR_RCX] = thread->app.pc; /* SYSCALL itself */
    thread->app.r[TR_R11] = thread->app.flags;
    if (!tr_frame_read(thread, &context)) {
        refuse_frame(thread);
        return;
    }
    if (!tr_change_mask(&thread->signals, context.uc_sigmask & ~unblockable_signals)) {
        thread->app.pc -= SYSCALL_SIZE;
        return;
    }
    if (!tr_frame_restore(thread, &context))
        refuse_frame(thread);
    if (thread->app.flags & X86_EFLAGS_TF) /* each instruction is to raise SIGTRAP from here on */
        thread->steps = thread->let_go = true;
    uint64_t time = tr_time(thread);
    tr_log_event(thread, TR_SIGRETURN, 0, &time, 1);
}

/* ---- system calls that wait ---- */

/* The set of signals that such a call blocks while it waits; false: it changes none. Errors are for
 * the kernel to report. */
static bool find_wait_mask(int64_t number, const uint64_t arguments[6], uint64_t *mask)
{
    struct {
        uint64_t set, size;
    } pair = {0};
    switch (number) {
    case __NR_rt_sigsuspend:
        pair.set = arguments[0];
        pair.size = arguments[1];
        break;
    case __NR_ppoll:
        pair.set = arguments[3];
        pair.size = arguments[4];
        break;
    case __NR_epoll_pwait:
    case __NR_epoll_pwait2:
        pair.set = arguments[4];
        pair.size = arguments[5];
        break;
    case __NR_pselect6:
    case __NR_io_pgetevents:
        if (!arguments[5] || !tr_read_safely(&pair, arguments[5], sizeof pair))
            return false;
        break;
    case __NR_io_uring_enter: {
        enum { GET_EVENTS = 1, EXTENDED_ARGUMENT = 8 }; /* linux/io_uring.h */
        if (!(arguments[3] & GET_EVENTS) || !arguments[4])
            return false;
        pair.set = arguments[4];
        pair.size = arguments[5];
        if ((arguments[3] & EXTENDED_ARGUMENT) && !tr_read_safely(&pair, arguments[4], sizeof pair))
            return false;
        pair.size &= UINT32_MAX;
        break;
    }
    default:
        return false;
    }
    return pair.set && pair.size == sizeof *mask && tr_read_safely(mask, pair.set, sizeof *mask);
}

/* Calls that return EINTR also when there is no handler to run, as after a stop (signal(7), "Interruption of system calls and
 * library functions by stop signals"). While the recorder stops threads, the kernel wakes others for signals that are
 * ignored, too. */
static bool ends_without_handler(int64_t number)
{
    switch (number) {
    case __NR_epoll_wait:
    case __NR_epoll_pwait:
    case __NR_epoll_pwait2:
    case __NR_semop:
    case __NR_semtimedop:
    case __NR_rt_sigtimedwait:
    case __NR_io_getevents:
        return true;
    default:
        return false;
    }
}

/* Makes the call again when it ended for a synchronous signal only that the program blocks or
 * ignores, or for nothing. */
static bool make_syscall(struct tr_signals_of_thread *signals, int64_t number,
                         const uint64_t arguments[6], int64_t *result)
{
    bool repeats = tr_process.taken_over && ends_without_handler(number);
    do {
        signals->ignored = repeats;
        if (!tr_make_syscall(&signals->pending, number, arguments, result))
            return false;
    } while (*result == -EINTR && signals->ignored && signals->pending == 0);
    return true;
}

/* As set_user_sigmask and restore_saved_sigmask_unless: when a signal has ended the wait, its
 * handler begins with the waiting mask and returns to the saved one. The kernel's own masks are
 * changed by the call itself. */
static bool make_waiting_syscall(struct tr_signals_of_thread *signals, uint64_t mask,
                                 int64_t number, const uint64_t arguments[6], int64_t *result)
{
    signals->saved_mask = signals->mask;
    signals->mask = mask & ~unblockable_signals;
    signals->restores_mask = true;
    bool made = true;
    tr_notice_held(signals);
    if (signals->held & ~signals->mask & signals->saved_mask)
        *result = -EINTR;
    else
        made = make_syscall(signals, number, arguments, result);
    int pending = signals->pending;
    bool ended_by_signal =
        made && pending != 0 &&
        (*result == -EINTR || (pending > 0 && (signals->saved_mask & signal_bit(pending))));
    if (!ended_by_signal)
        restore_saved_mask(signals);
    tr_notice_held(signals);
    return made;
}

bool tr_safe_syscall(struct tr_thread *thread, int64_t number, const uint64_t arguments[6],
                     int64_t *result)
{
    struct tr_signals_of_thread *signals = &thread->signals;
    uint64_t mask;
    thread->in_syscall = true;
    bool made = find_wait_mask(number, arguments, &mask)
                    ? make_waiting_syscall(signals, mask, number, arguments, result)
                    : make_syscall(signals, number, arguments, result);
    thread->in_syscall = false;
    return made;
}

static int64_t accept_held(struct tr_thread *thread, uint64_t set)
{
    struct tr_signals_of_thread *signals = &thread->signals;
    uint8_t info[TR_SIGNAL_INFO];
    int signal = lowest_signal(signals->held & set);
    tr_take_held(signals, signal, info);
    uint64_t to = thread->app.r[TR_RSI];
    return !to || tr_write_safely(to, info, sizeof info) ? signal : -EFAULT;
}

/* The kernel waits for the signals that are in its queues; those that are held here come first. */
int64_t tr_sys_rt_sigtimedwait(struct tr_thread *thread)
{
    struct tr_signals_of_thread *signals = &thread->signals;
    const uint64_t *r = thread->app.r;
    const uint64_t arguments[6] = {r[TR_RDI], r[TR_RSI], r[TR_RDX], r[TR_R10]};
    uint64_t set = 0;
    int64_t result = TR_RESTART;
    if (r[TR_R10] != sizeof set || !tr_read_safely(&set, r[TR_RDI], sizeof set))
        set = 0; /* the kernel reports the error */
    signals->awaited = set;
    bool made = (signals->held & set) == 0 &&
                tr_safe_syscall(thread, __NR_rt_sigtimedwait, arguments, &result);
    signals->awaited = 0;
    if ((!made || result == -EINTR) && (signals->held & set))
        return accept_held(thread, set);
    return made ? result : TR_RESTART;
}

/* ---- going on natively ---- */

static void give_actions_back(const struct tr_action *actions)
{
    for (int signal = 1; signal <= TR_SIGNALS; signal++) {
        struct tr_action action;
        if (tr_get_kernel_action(signal, &action) == 0 &&
            action.handler == (uint64_t)tr_master_handler)
            tr_set_kernel_action(signal, &actions[signal - 1]);
    }
}

void tr_signal_give_actions_back(const struct tr_process *process)
{
    give_actions_back(process->actions);
}

/* Ignored signals are not blocked: see tr_signals_block_handled. One that gets a handler meanwhile from a thread that is still traced
 * is put off (put_off). From one that has gone on natively, the program's handler itself runs here, on the runtime's stack. */
void tr_signal_let_go(struct tr_thread *thread, bool keep_actions)
{
    struct tr_signals_of_thread *signals = &thread->signals;
    signals->leaves = true;
    tr_set_kernel_mask(signals->pending ? all_signals : ~tr_dropped_signals(signals));
    if (!keep_actions)
        give_actions_back(signals->actions);
    if (signals->pending > 0 && !signals->pending_is_fault)
        tr_queue_again(signals->pending, signals->info);
    signals->pending = 0;
    while (signals->held) {
        uint8_t info[TR_SIGNAL_INFO];
        int signal = lowest_signal(signals->held);
        tr_take_held(signals, signal, info);
        tr_queue_again(signal, info);
    }
}

_Noreturn void tr_signal_return_natively(struct tr_thread *thread)
{
    struct tr_signal_frame frame;
    void *area = __builtin_alloca_with_align(tr_extended_state_size(&thread->signals), 64 * 8);
    tr_frame_for_kernel(thread, &frame, area);
    tr_thread_set_base(NULL);
    tr_kernel_sigreturn(&frame);
}
