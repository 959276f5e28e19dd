/* The program's threads and processes: how they begin and end. */
#include "engine/packets/sideband_layout.h"
#include "runtime/translator/code/code_pages.h"
#include "runtime/translator/code/fragment.h"
#include "runtime/translator/fault_safe.h"
#include "runtime/translator/lock.h"
#include "runtime/translator/log/clock.h"
#include "runtime/translator/log/log.h"
#include "runtime/translator/log/sideband.h"
#include "runtime/translator/own_memory.h"
#include "runtime/translator/signals/signal.h"
#include "runtime/translator/syscalls/reservation.h"
#include "runtime/translator/syscalls/syscall.h"
#include "runtime/translator/system.h"

#include <asm/unistd.h>
#include <linux/errno.h>
#include <linux/sched.h>

/* clone.S */
int64_t tr_clone_raw(uint64_t flags, uint64_t stack, uint64_t parent_tid, uint64_t child_tid,
                     uint64_t tls, struct tr_thread *child);
int64_t tr_clone3_raw(const void *arguments, size_t size, struct tr_thread *child);
_Noreturn void tr_exit_raw(int status, uint32_t *state);
_Noreturn void tr_child_begin(struct tr_thread *thread);

enum {
    SIGNAL_CHILD = 17,          /* SIGCHLD */
    LEAST_CLONE_ARGUMENTS = 64, /* CLONE_ARGS_SIZE_VER0 */
    LARGEST_CLONE_ARGUMENTS = TR_PAGE,
    SYSCALL_SIZE = 2,
};

static const struct tr_options *options_of(const struct tr_thread *thread)
{
    return &thread->process->control->options;
}

static void log_time(struct tr_thread *thread, enum tr_event kind)
{
    uint64_t time = tr_time(thread);
    tr_log_event(thread, kind, 0, &time, 1);
}

/* As the kernel leaves the registers after SYSCALL. */
static void return_from_syscall(struct tr_state *state, int64_t result)
{
    state->r[TR_RAX] = (uint64_t)result;
    state->r[TR_RCX] = state->pc;
    state->r[TR_R11] = state->flags;
}

void tr_process_begun(struct tr_thread *thread, const struct tr_start *start)
{
    tr_own_add(start->image, start->image_size);
    tr_own_add(start->arena, thread->process->control->arena_size);
    tr_sideband_name(thread, tr_time(thread), start->execed, start->name);
    tr_code_begin(thread);
}

/* ---- a new thread or process begins ---- */

uint32_t tr_slot_reserve(struct tr_control *control)
{
    struct tr_places slots = {&control->next_slot, control->free_slots, control->slot_count};
    uint32_t slot;
    if (tr_reserve(&slots, &slot))
        return slot;
    atomic_fetch_add(&control->lost_slots, 1);
    return UINT32_MAX;
}

static struct tr_places tables_of(struct tr_control *control)
{
    return (struct tr_places){&control->next_table, control->free_tables, control->table_count};
}

static void log_untraced(struct tr_thread *thread, enum untraced_reason reason)
{
    tr_sideband_untraced(thread, tr_time(thread), thread->pid, reason, thread->process->name, "");
}

/* A process that is not traced goes on natively before it has run anything. */
static _Noreturn void go_natively(struct tr_thread *thread, enum tr_slot_end reason)
{
    thread->slot = NULL;
    thread->serial = UINT32_MAX;
    thread->stops = true;
    log_untraced(thread, UNTRACED_PROCESS);
    tr_signal_begin_thread(thread);
    tr_let_go(thread, reason);
}

static void identify(struct tr_thread *thread)
{
    thread->pid = (int32_t)tr_syscall(__NR_getpid, 0, 0, 0);
    thread->tid = (int32_t)tr_syscall(__NR_gettid, 0, 0, 0);
}

/* It goes on where its parent is, and has its callers. */
static void log_forked(struct tr_thread *thread)
{
    log_time(thread, TR_FORKED);
    tr_log_first_calls(thread);
}

static _Noreturn void enter(struct tr_thread *thread)
{
    log_time(thread, TR_RESUME);
    tr_signal_begin_thread(thread);
    tr_enter(thread);
}

/* From clone.S, on the new thread's own stack. Until now pid and tid are its parent's. */
void tr_child_begin(struct tr_thread *thread)
{
    int32_t parent_pid = thread->pid, parent_tid = thread->tid;
    tr_thread_set_base(thread);
    tr_signal_begin_faults(thread, tr_thread_signal_stack(thread));
    identify(thread);
    bool is_process = thread->pid != parent_pid;
    bool untraced = is_process ? !options_of(thread)->follow : !options_of(thread)->multi_thread;
    /* It shares its parent's memory, breakpoints included, which need our handlers. */
    bool has_breakpoints = options_of(thread)->selected_count > 0;
    if (is_process && untraced && !has_breakpoints)
        go_natively(thread, TR_SLOT_LET_GO);
    uint32_t slot = untraced ? UINT32_MAX : tr_slot_reserve(thread->process->control);
    uint64_t forked = tr_time(thread); /* before anything in its log */
    tr_log_begin(thread, slot, untraced);
    if (untraced)
        log_untraced(thread, is_process ? UNTRACED_PROCESS : UNTRACED_THREAD);
    else
        tr_sideband_fork(thread, forked, parent_pid, parent_tid);
    if (is_process)
        log_forked(thread);
    enter(thread);
}

/* ---- clone that shares memory ---- */

/* The arguments of clone, fork, vfork and clone3. */
struct clone_call {
    uint64_t flags;
    uint64_t stack; /* that the child begins with; 0: its parent's */
    uint64_t parent_tid, child_tid, tls;
    size_t size; /* clone3: of `arguments`; 0: another call */
    union {
        struct clone_args arguments;
        uint8_t bytes[LARGEST_CLONE_ARGUMENTS];
    };
};

static struct tr_thread *prepare_child(struct tr_thread *parent, const struct clone_call *call)
{
    struct tr_thread *child = tr_thread_allocate(parent->process);
    if (!child)
        return NULL;
    child->app = parent->app;
    return_from_syscall(&child->app, 0);
    if (call->stack)
        child->app.r[TR_RSP] = call->stack;
    child->stack_top = child->app.r[TR_RSP];
    child->hot.last_time = parent->hot.last_time;
    child->let_go = parent->let_go;
    child->pid = parent->pid;
    child->tid = parent->tid;
    child->vforked = !(call->flags & CLONE_SIGHAND);
    child->parent_waits = call->flags & CLONE_VFORK;
    return child;
}

static int64_t clone_on_stack(struct clone_call *call, struct tr_thread *child)
{
    if (call->size == 0)
        return tr_clone_raw(call->flags, child->hot.stack, call->parent_tid, call->child_tid,
                            call->tls, child);
    call->arguments.stack = child->hot.stack - TR_STACK_SIZE;
    call->arguments.stack_size = TR_STACK_SIZE;
    return tr_clone3_raw(call->bytes, call->size, child);
}

static int64_t clone_thread(struct tr_thread *parent, struct clone_call *call)
{
    uint32_t *running = &parent->process->running;
    struct tr_thread *child = prepare_child(parent, call);
    if (!child)
        return -EAGAIN;
    if (!child->vforked)
        __atomic_add_fetch(running, 1, __ATOMIC_ACQ_REL);
    bool counted = !child->vforked, waits = child->parent_waits;
    tr_signal_before_clone(parent, child, call->flags);
    tr_signals_block(parent);
    int64_t result = clone_on_stack(call, child);
    tr_signal_after_clone(parent);
    if (result < 0 && counted)
        __atomic_sub_fetch(running, 1, __ATOMIC_ACQ_REL);
    if (result < 0 || waits)
        tr_thread_release(child);
    return result;
}

/* ---- fork ---- */

/* Only the calling thread exists in the child, and no lock is held. */
static void forget_others(struct tr_thread *thread)
{
    struct tr_process *process = thread->process;
    for (struct tr_thread *other = process->threads; other; other = other->next)
        if (other != thread)
            tr_thread_release(other);
    process->running = 1;
    thread->vforked = thread->parent_waits = false;
    tr_unlock(&process->thread_lock);
    tr_unlock(&process->lock);
}

/* For the child. UINT32_MAX: all are in use, or the disk is full. */
static uint32_t reserve_table(struct tr_process *process)
{
    struct tr_control *control = process->control;
    struct tr_places tables = tables_of(control);
    uint32_t table;
    if (!tr_reserve(&tables, &table)) {
        atomic_fetch_add(&control->lost_tables, 1);
        return UINT32_MAX;
    }
    if (tr_fragments_before_fork(process, table))
        return table;
    tr_give_back(&tables, table);
    atomic_fetch_add(&control->lost_threads, 1);
    return UINT32_MAX;
}

static void give_back_table(struct tr_process *process, uint32_t table)
{
    struct tr_places tables = tables_of(process->control);
    tr_fragments_after_failed_fork(process, table);
    tr_give_back(&tables, table);
}

static _Noreturn void begin_forked(struct tr_thread *thread, const struct clone_call *call,
                                   uint32_t table)
{
    struct tr_process *process = thread->process;
    int32_t parent_pid = thread->pid, parent_tid = thread->tid;
    forget_others(thread);
    tr_signal_begin_faults(thread, tr_thread_signal_stack(thread));
    identify(thread);
    thread->timed_calls.count = 0;
    thread->timed_calls.read_at = 0;
    thread->translated = 0;              /* the kernel's account of the thread begins again, too */
    thread->selected.dispatches = false; /* the kernel has forgotten it */
    process->pid = thread->pid;
    return_from_syscall(&thread->app, 0);
    if (call->stack)
        thread->app.r[TR_RSP] = thread->stack_top = call->stack;
    process->is_alone = !options_of(thread)->follow || table == UINT32_MAX;
    if (!options_of(thread)->follow)
        go_natively(thread, TR_SLOT_LET_GO);
    if (table == UINT32_MAX)
        go_natively(thread, TR_SLOT_NO_SPACE);
    tr_fragments_forked(process, table);
    tr_log_begin(thread, tr_slot_reserve(process->control), false);
    tr_sideband_fork(thread, tr_time(thread), parent_pid, parent_tid);
    tr_code_begin(thread);
    log_forked(thread);
    enter(thread);
}

static int64_t raw_fork(struct clone_call *call)
{
    if (call->size == 0)
        return tr_syscall6(__NR_clone, call->flags, 0, call->parent_tid, call->child_tid, call->tls,
                           0);
    call->arguments.stack = call->arguments.stack_size = 0;
    return tr_syscall(__NR_clone3, (uint64_t)call->bytes, call->size, 0);
}

static int64_t fork(struct tr_thread *thread, struct clone_call *call)
{
    struct tr_process *process = thread->process;
    tr_lock(&process->lock);
    tr_lock(&process->thread_lock);
    tr_code_shared(thread);
    uint32_t table = options_of(thread)->follow ? reserve_table(process) : UINT32_MAX;
    tr_signal_before_clone(thread, thread, call->flags);
    int64_t result = raw_fork(call);
    if (result == 0)
        begin_forked(thread, call, table);
    tr_signal_after_clone(thread);
    if (result < 0 && table != UINT32_MAX)
        give_back_table(process, table);
    tr_unlock(&process->thread_lock);
    tr_unlock(&process->lock);
    return result;
}

/* ---- the calls ---- */

/* False: `*result` is the kernel's error. */
static bool read_clone3(const struct tr_thread *thread, struct clone_call *call, int64_t *result)
{
    uint64_t address = thread->app.r[TR_RDI], size = thread->app.r[TR_RSI];
    *result = size > LARGEST_CLONE_ARGUMENTS ? -E2BIG
              : size < LEAST_CLONE_ARGUMENTS ? -EINVAL
                                             : -EFAULT;
    if (*result != -EFAULT || !tr_read_safely(call->bytes, address, size))
        return false;
    struct clone_args *arguments = &call->arguments;
    call->size = size;
    call->flags = arguments->flags;
    call->stack = arguments->stack + arguments->stack_size;
    *result = -EINVAL;
    return !arguments->stack == !arguments->stack_size;
}

static bool read_call(const struct tr_thread *thread, struct clone_call *call, int64_t *result)
{
    const uint64_t *r = thread->app.r;
    call->size = 0;
    switch ((int32_t)r[TR_RAX]) {
    case __NR_clone3:
        return read_clone3(thread, call, result);
    case __NR_clone:
        call->flags = r[TR_RDI];
        call->stack = r[TR_RSI];
        call->parent_tid = r[TR_RDX];
        call->child_tid = r[TR_R10];
        call->tls = r[TR_R8];
        return true;
    default:
        call->flags = SIGNAL_CHILD;
        if ((int32_t)r[TR_RAX] == __NR_vfork)
            call->flags |= CLONE_VM | CLONE_VFORK;
        call->stack = call->parent_tid = call->child_tid = call->tls = 0;
        return true;
    }
}

int64_t tr_sys_clone(struct tr_thread *thread)
{
    struct clone_call call;
    int64_t result = TR_RESTART;
    if (!read_call(thread, &call, &result))
        return result;
    if (call.flags & CLONE_NEWPID)
        atomic_store(&thread->process->control->has_namespaces, 1);
    if (!tr_signals_block_handled(thread))
        result = call.flags & CLONE_VM ? clone_thread(thread, &call) : fork(thread, &call);
    tr_signals_unblock(thread);
    return result;
}

/* ---- the end ---- */

void tr_process_end_log(struct tr_thread *thread, enum tr_slot_end end)
{
    struct tr_slot *slot = thread->slot;
    if (!slot || thread->stops)
        return;
    tr_log_publish(thread);
    atomic_store_explicit(&slot->ended, (uint32_t)end, memory_order_release);
}

static void end_thread(struct tr_thread *thread, uint64_t time)
{
    if (thread->slot)
        tr_sideband_exit(thread, time);
    tr_process_end_log(thread, TR_SLOT_ENDED);
    thread->slot = NULL; /* it may be another thread's from now on */
}

int64_t tr_sys_exit(struct tr_thread *thread)
{
    if (tr_signals_block(thread)) {
        tr_signals_unblock(thread);
        return TR_RESTART;
    }
    static const uint64_t all = UINT64_MAX;
    tr_syscall6(__NR_rt_sigprocmask, 2 /* SIG_SETMASK */, (uint64_t)&all, 0, sizeof all, 0, 0);
    end_thread(thread, tr_time(thread));
    if (!thread->vforked)
        __atomic_sub_fetch(&thread->process->running, 1, __ATOMIC_ACQ_REL);
    uint32_t unused;
    tr_exit_raw((int)thread->app.r[TR_RDI], thread->parent_waits ? &unused : &thread->state);
}

void tr_process_end_other_logs(struct tr_thread *thread, enum tr_slot_end from, enum tr_slot_end to)
{
    for (struct tr_thread *other = thread->process->threads; other; other = other->next) {
        bool used = __atomic_load_n(&other->state, __ATOMIC_ACQUIRE) == TR_THREAD_USED;
        uint32_t expected = (uint32_t)from;
        if (other != thread && used && other->pid == thread->pid && other->slot)
            atomic_compare_exchange_strong(&other->slot->ended, &expected, (uint32_t)to);
    }
}

static void log_other_exits(struct tr_thread *thread, uint64_t time)
{
    for (struct tr_thread *other = thread->process->threads; other; other = other->next) {
        bool used = __atomic_load_n(&other->state, __ATOMIC_ACQUIRE) == TR_THREAD_USED;
        if (other != thread && used && other->pid == thread->pid && other->slot &&
            atomic_load(&other->slot->ended) == TR_SLOT_RUNS)
            tr_sideband_exit(other, time);
    }
}

/* Other threads may still run for a moment: what they write meanwhile may or may not be read. */
int64_t tr_sys_exit_group(struct tr_thread *thread)
{
    if (tr_signals_block(thread)) {
        tr_signals_unblock(thread);
        return TR_RESTART;
    }
    uint64_t time = tr_time(thread);
    log_other_exits(thread, time);
    end_thread(thread, time);
    tr_process_end_other_logs(thread, TR_SLOT_RUNS, TR_SLOT_EXITS);
    for (;;)
        tr_syscall(__NR_exit_group, thread->app.r[TR_RDI], 0, 0);
}
