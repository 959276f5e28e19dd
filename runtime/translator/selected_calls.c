#include "runtime/translator/selected_calls.h"

#include "runtime/translator/code/breakpoints.h"
#include "runtime/translator/fault_safe.h"
#include "runtime/translator/lock.h"
#include "runtime/translator/log/clock.h"
#include "runtime/translator/log/log.h"
#include "runtime/translator/signals/signal_frame.h"
#include "runtime/translator/signals/signal_set.h"
#include "runtime/translator/suspended_calls.h"
#include "runtime/translator/syscalls/syscall.h"
#include "runtime/translator/system.h"
#include "runtime/translator/timed_calls.h"

#include <asm/prctl.h>
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

/* The log goes on, before app.pc. */
static void resume_log(struct tr_thread *thread)
{
    uint64_t now = tr_time(thread);
    thread->selected.inside = true;
    tr_log_event(thread, TR_RESUME, 0, &now, 1);
    tr_log_resume(thread);
    log_callers(thread);
}

/* At the function's first instruction. */
static void note_call(struct tr_thread *thread)
{
    struct tr_selected_call *call = &thread->selected;
    call->has_call = true;
    call->away = false;
    call->stack_pointer = thread->app.r[TR_RSP];
    call->return_address = 0;
    tr_suspended_forget(call->stack_pointer);
    if (!tr_read_safely(&call->return_address, call->stack_pointer, sizeof call->return_address) ||
        !tr_return_place_add(thread, call->return_address))
        call->stack_pointer = 0;
}

static void begin(struct tr_thread *thread)
{
    resume_log(thread);
    note_call(thread);
}

bool tr_selected_join(struct tr_thread *thread)
{
    if (!tr_suspended_any())
        return false;
    resume_log(thread);
    return true;
}

void tr_selected_end(struct tr_thread *thread)
{
    uint64_t values[] = {tr_time(thread), thread->app.pc};
    tr_log_event(thread, TR_OUTSIDE, 0, values, 2);
    tr_log_publish(thread);
    thread->selected.inside = thread->selected.has_call = false;
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
    return tr_call_has_lost_its_place(call->stack_pointer, call->return_address);
}

static bool is_over(const struct tr_thread *thread)
{
    return is_above(thread) || has_lost_its_place(&thread->selected);
}

/* The C library keeps the thread's own data right above its stack, and the ABI has its address in its first word ("ELF Handling For
 * Thread-Local Storage", variant II). Go's threads have neither. */
static bool has_stack_of_library(const struct tr_thread *thread)
{
    enum { LARGEST_DATA = 1 << 20 };
    uint64_t base = 0, word = 0;
    if (thread->tid == thread->pid) /* the kernel's */
        return true;
    if (thread->process->fsgsbase)
        __asm__ volatile("rdfsbase %0" : "=r"(base));
    else
        tr_syscall(__NR_arch_prctl, ARCH_GET_FS, (uint64_t)&base, 0);
    return base - thread->stack_top < LARGEST_DATA && tr_read_safely(&word, base, sizeof word) &&
           word == base;
}

/* Whether all pages in between can be read: other stacks lie beyond a page that cannot. */
static bool is_one_mapping(uint64_t from, uint64_t to)
{
    uint8_t byte;
    for (; from < to; from += TR_PAGE)
        if (!tr_read_safely(&byte, from, sizeof byte))
            return false;
    return true;
}

/* Of the call in progress. What is known of the stack's extent is kept. */
static bool began_on_own_stack(struct tr_thread *thread)
{
    enum { LARGEST_STACK = 8 << 20 }; /* the usual limit of a stack's size */
    struct tr_selected_call *call = &thread->selected;
    uint64_t top = thread->stack_top, entry = call->stack_pointer;
    if (entry >= top || top - entry > LARGEST_STACK || !has_stack_of_library(thread))
        return false;
    if (call->own_stack == 0)
        call->own_stack = top;
    if (entry < call->own_stack) {
        if (!is_one_mapping(entry, call->own_stack))
            return false;
        call->own_stack = entry;
    }
    return true;
}

/* On the thread's own stack nothing but the end of the call takes the pointer above its return address. Other stacks, of fibers and
 * goroutines, may lie next to each other, and the call may go on when they are changed back. */
static bool was_left(struct tr_thread *thread)
{
    return thread->app.r[TR_RSP] <= thread->stack_top && is_above(thread) &&
           began_on_own_stack(thread);
}

void tr_selected_jumps(struct tr_thread *thread)
{
    if (thread->selected.has_call && was_left(thread))
        tr_return_place_add(thread, thread->app.pc);
}

static bool ends_here(struct tr_thread *thread)
{
    return thread->app.pc == thread->selected.return_address ? is_over(thread) : was_left(thread);
}

static bool is_selected(struct tr_thread *thread)
{
    tr_lock(&thread->process->lock);
    bool is_selected = tr_breakpoint_is_selected(thread->app.pc);
    tr_unlock(&thread->process->lock);
    return is_selected;
}

static bool is_needed(const struct tr_thread *thread)
{
    return thread->selected.has_call || tr_suspended_any();
}

/* Whether a call begins here that is not within the one in progress. On the same stack that has been left if it began no further up. */
static bool begins_here(struct tr_thread *thread)
{
    const struct tr_selected_call *call = &thread->selected;
    bool within = call->has_call && (call->away || thread->app.r[TR_RSP] < call->stack_pointer);
    return call->known_places && !within && is_selected(thread);
}

bool tr_selected_is_over(struct tr_thread *thread)
{
    struct tr_selected_call *call = &thread->selected;
    if (!call->inside)
        return false;
    tr_selected_stack_runs(thread);
    if (call->has_call && !call->away && ends_here(thread))
        call->has_call = false;
    else
        tr_suspended_return(thread->app.pc, thread->app.r[TR_RSP]);
    if (begins_here(thread))
        note_call(thread);
    return !is_needed(thread);
}

void tr_selected_look(struct tr_thread *thread)
{
    struct tr_selected_call *call = &thread->selected;
    if (!call->inside)
        return;
    tr_suspended_drop_left();
    if (call->has_call && !call->away && (was_left(thread) || has_lost_its_place(call)))
        call->has_call = false;
    if (!is_needed(thread))
        tr_selected_end(thread);
}

/* ---- stacks ---- */

/* Fibers may call selected functions, and the cache knows these as code that asks nothing. */
static void ask_at_functions(struct tr_thread *thread)
{
    uint32_t changes = tr_breakpoint_changes();
    if (thread->selected.known_places == changes)
        return;
    thread->selected.known_places = changes;
    for (uint64_t address = 0;; address++) {
        tr_lock(&thread->process->lock);
        address = tr_breakpoint_from(address);
        tr_unlock(&thread->process->lock);
        if (address == 0)
            break;
        tr_return_place_add(thread, address);
    }
}

static void suspend(struct tr_thread *thread)
{
    struct tr_selected_call *call = &thread->selected;
    call->has_call = call->away = false;
    if (call->stack_pointer != 0)
        tr_suspended_add(
            &(struct tr_suspended_call){call->stack_pointer, call->return_address, call->left});
}

/* If the stack that runs is that of a suspended call, the thread goes on with it. */
static void take_suspended(struct tr_thread *thread)
{
    struct tr_selected_call *call = &thread->selected;
    struct tr_suspended_call suspended;
    if (!tr_suspended_take(thread->app.r[TR_RSP], &suspended))
        return;
    call->has_call = true;
    call->away = call->nested = false;
    call->stack_pointer = suspended.stack_pointer;
    call->return_address = suspended.return_address;
}

/* Whether the load of the stack pointer leads within the call's own stack: up, or back to it from where code that calls preserve registers for has
 * gone to another one (Go's systemstack; x86/stack_load.h). */
static bool stays(struct tr_thread *thread, uint64_t from, uint64_t to)
{
    uint64_t entry = thread->selected.stack_pointer;
    if (entry - from > TR_SAME_STACK)
        return entry - to < TR_SAME_STACK;
    return (to > from && to <= entry) ||
           (to > entry && to <= thread->stack_top && began_on_own_stack(thread));
}

/* Go moves a stack to make it larger, from another stack that calls nothing which was suspended there: whether the call's return address lies
 * as far above the new stack pointer as above the old one. */
static bool find_moved(struct tr_thread *thread, uint64_t to, uint64_t *moved)
{
    enum { PUSHED = 64 };
    const struct tr_selected_call *call = &thread->selected;
    uint64_t place = to + (call->stack_pointer - call->left) - PUSHED, word;
    for (uint64_t end = place + 2 * PUSHED; place <= end; place += sizeof word)
        if (tr_read_safely(&word, place, sizeof word) && word == call->return_address &&
            place != call->stack_pointer && !tr_suspended_at(place)) {
            *moved = place;
            return true;
        }
    return false;
}

/* From a stack that the call in progress, or the newest one that was suspended by this thread, has been left for. */
static void change_further(struct tr_thread *thread, uint64_t to)
{
    struct tr_selected_call *call = &thread->selected;
    struct tr_suspended_call old;
    uint64_t moved;
    bool has_moved = call->nested && find_moved(thread, to, &moved);
    call->nested = false;
    if (has_moved && (call->has_call || tr_suspended_take(call->left, &old))) {
        call->has_call = true;
        call->away = false;
        call->stack_pointer = moved;
    } else if (call->has_call) {
        suspend(thread);
    }
}

void tr_selected_stack_loaded(struct tr_thread *thread)
{
    struct tr_selected_call *call = &thread->selected;
    uint64_t from = thread->hot.stack_before, to = thread->app.r[TR_RSP];
    if (!call->inside)
        return;
    if (call->has_call && !call->away) {
        if (stays(thread, from, to))
            return;
        call->away = call->nested = true;
        call->left = from;
        call->entered = to;
        return;
    }
    enum { PUSHED = 512 };
    if (call->away && to + PUSHED >= call->left && to <= call->stack_pointer) {
        call->away = call->nested = false;
        return;
    }
    change_further(thread, to);
    if (!call->has_call)
        take_suspended(thread);
}

/* Whether the code on the stack that the call was left for returns into what lay there before. A signal handler on a stack further up does
 * not, and goes back to it. */
static bool has_returned_further(const struct tr_thread *thread)
{
    uint64_t pointer = thread->app.r[TR_RSP];
    return pointer > thread->selected.entered && !tr_on_alt_stack(&thread->signals, pointer);
}

void tr_selected_stack_runs(struct tr_thread *thread)
{
    struct tr_selected_call *call = &thread->selected;
    if (!call->away && !tr_suspended_any())
        return;
    ask_at_functions(thread);
    bool others = __atomic_load_n(&thread->process->running, __ATOMIC_RELAXED) > 1;
    if (call->nested && has_returned_further(thread))
        call->nested = false;
    if (call->away && (others || !call->nested))
        suspend(thread);
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

/* At a selected function, or where a suspended call may go on; that has returned meanwhile if none is suspended. */
static void arrive_here(struct tr_thread *thread)
{
    if (is_selected(thread))
        begin(thread);
    else if (tr_selected_join(thread))
        take_suspended(thread);
}

void tr_selected_resume(struct tr_thread *thread)
{
    struct tr_selected_call *call = &thread->selected;
    call->native = false;
    if (call->arrives) {
        call->arrives = false;
        arrive_here(thread);
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
