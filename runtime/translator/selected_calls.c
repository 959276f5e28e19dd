#include "runtime/translator/selected_calls.h"

#include "runtime/translator/code/breakpoints.h"
#include "runtime/translator/fault_safe.h"
#include "runtime/translator/lock.h"
#include "runtime/translator/log/clock.h"
#include "runtime/translator/log/log.h"
#include "runtime/translator/signals/signal_frame.h"
#include "runtime/translator/signals/signal_set.h"
#include "runtime/translator/syscalls/syscall.h"
#include "runtime/translator/system.h"
#include "runtime/translator/timed_calls.h"

#include <asm/processor-flags.h>
#include <asm/unistd.h>
#include <linux/prctl.h>

/* enter.S */
_Noreturn void tr_escape(struct tr_thread *thread);
__attribute__((visibility("hidden"))) void tr_resume_from_handler(void);

enum { USER_DISPATCH = 2 }; /* SYS_USER_DISPATCH of asm-generic/siginfo.h */

/* ---- calls ---- */

/* Callers are found by a copy of the stack, of about as many bytes as the call before has logged: so a ring holds at least half as many
 * calls as without. */
static void log_callers(struct tr_thread *thread)
{
    enum { LEAST = 1 << 10, MOST = 16 << 10 };
    uint64_t before = thread->selected.log, now = thread->hot.log;
    uint64_t logged = before && now > before ? now - before : MOST;
    uint64_t most = logged < MOST ? logged / 8 * 8 : MOST;
    tr_log_callers(thread, most > LEAST ? most : LEAST);
    thread->selected.log = thread->hot.log;
}

static void begin(struct tr_thread *thread)
{
    struct tr_selected_call *call = &thread->selected;
    uint64_t now = tr_time(thread);
    call->inside = true;
    call->stack_pointer = thread->app.r[TR_RSP];
    call->return_address = 0;
    tr_log_event(thread, TR_RESUME, 0, &now, 1);
    tr_log_resume(thread);
    log_callers(thread);
    if (!tr_read_safely(&call->return_address, call->stack_pointer, sizeof call->return_address) ||
        !tr_return_place_add(thread, call->return_address))
        call->stack_pointer = 0;
}

void tr_selected_end(struct tr_thread *thread)
{
    uint64_t values[] = {tr_time(thread), thread->app.pc};
    tr_log_event(thread, TR_OUTSIDE, 0, values, 2);
    tr_log_publish(thread);
    thread->selected.inside = false;
}

/* Whether the stack has been taken down past the call's return address. A stack far away is another one, of a handler or a
 * coroutine, that will come back. */
static bool is_above(const struct tr_thread *thread)
{
    uint64_t pointer = thread->app.r[TR_RSP], entry = thread->selected.stack_pointer;
    return pointer > entry && pointer - entry < TR_SAME_STACK &&
           !tr_on_alt_stack(&thread->signals, pointer);
}

static bool has_lost_its_place(const struct tr_selected_call *call)
{
    uint64_t address;
    return !tr_read_safely(&address, call->stack_pointer, sizeof address) ||
           address != call->return_address;
}

static bool is_over(const struct tr_thread *thread)
{
    return is_above(thread) || has_lost_its_place(&thread->selected);
}

/* On the thread's own stack nothing but the end of the call takes the pointer above its return address. Other stacks, of fibers and
 * goroutines, may lie next to each other, and the call may go on when they are changed back. */
static bool was_left(const struct tr_thread *thread)
{
    enum { LARGEST_STACK = 8 << 20 }; /* the usual limit of a stack's size */
    uint64_t top = thread->stack_top, entry = thread->selected.stack_pointer;
    return entry < top && top - entry <= LARGEST_STACK && thread->app.r[TR_RSP] <= top &&
           is_above(thread);
}

void tr_selected_jumps(struct tr_thread *thread)
{
    if (thread->selected.inside && was_left(thread))
        tr_return_place_add(thread, thread->app.pc);
}

static bool ends_here(const struct tr_thread *thread)
{
    return thread->app.pc == thread->selected.return_address ? is_over(thread) : was_left(thread);
}

bool tr_selected_is_over(const struct tr_thread *thread)
{
    return thread->process->control->options.selected_count && thread->selected.inside &&
           ends_here(thread);
}

void tr_selected_look(struct tr_thread *thread)
{
    if (thread->process->control->options.selected_count && thread->selected.inside &&
        is_over(thread))
        tr_selected_end(thread);
}

/* ---- native code ---- */

/* The kernel forgets it in new threads and processes, and at exec. All but the runtime's own calls raise SIGSYS. */
static void dispatch_syscalls(struct tr_thread *thread)
{
    const struct tr_process *process = thread->process;
    if (thread->selected.dispatches)
        return;
    tr_syscall6(__NR_prctl, PR_SET_SYSCALL_USER_DISPATCH, PR_SYS_DISPATCH_ON, process->image,
                process->image_size, 0, 0);
    thread->selected.dispatches = true;
}

void tr_selected_run_natively(struct tr_thread *thread)
{
    dispatch_syscalls(thread);
    thread->selected.native = true;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    /* One that comes later is seen to by the master handler: tr_selected_was_leaving. */
    if (thread->signals.pending == 0)
        tr_escape(thread);
    thread->selected.native = false;
}

void tr_selected_resume(struct tr_thread *thread)
{
    struct tr_selected_call *call = &thread->selected;
    call->native = false;
    if (call->arrives) {
        call->arrives = false;
        begin(thread);
    } else if (call->makes_call) {
        call->makes_call = false;
        tr_syscall_run(thread);
    }
}

/* The signal mask stays the program's: no signal is pending. */
static void enter_runtime(struct tr_thread *thread, struct ucontext *context)
{
    struct sigcontext *registers = &context->uc_mcontext;
    tr_frame_registers(&thread->app, registers);
    registers->rip = (uint64_t)tr_resume_from_handler;
    registers->rsp = thread->hot.stack;
    registers->eflags &= ~(uint64_t)(X86_EFLAGS_DF | X86_EFLAGS_TF | X86_EFLAGS_AC);
}

/* INT3 has run: rip is after it. Whether it was a breakpoint of ours, which may have been taken away meanwhile. */
static bool was_breakpoint(struct tr_thread *thread, uint64_t address, bool *is_there)
{
    uint8_t byte;
    tr_lock(&thread->process->lock);
    *is_there = tr_breakpoint_at(address);
    tr_unlock(&thread->process->lock);
    return *is_there || (tr_read_safely(&byte, address, sizeof byte) && byte != TR_BREAKPOINT);
}

static bool arrive(struct tr_thread *thread, struct ucontext *context)
{
    struct sigcontext *registers = &context->uc_mcontext;
    bool is_there;
    if (!was_breakpoint(thread, registers->rip - 1, &is_there))
        return false;
    registers->rip--;
    if (is_there) {
        thread->selected.arrives = true;
        enter_runtime(thread, context);
    }
    return true;
}

bool tr_selected_signal(struct tr_thread *thread, const void *info_, void *context)
{
    const siginfo_t *info = info_;
    if (!thread->selected.native || thread->signals.pending)
        return false;
    if (info->si_signo == SIGSYS && info->si_code == USER_DISPATCH) {
        thread->selected.makes_call = true;
        enter_runtime(thread, context);
        return true;
    }
    return info->si_signo == SIGTRAP && info->si_code == SI_KERNEL && arrive(thread, context);
}

void tr_selected_let_go(struct tr_thread *thread)
{
    if (!thread->selected.dispatches)
        return;
    tr_syscall6(__NR_prctl, PR_SET_SYSCALL_USER_DISPATCH, PR_SYS_DISPATCH_OFF, 0, 0, 0, 0);
    thread->selected.dispatches = false;
}
