#include "runtime/translator/signals/signal_actions.h"

#include "runtime/translator/fault_safe.h"
#include "runtime/translator/lock.h"
#include "runtime/translator/signals/signal.h"
#include "runtime/translator/signals/signal_frame.h"
#include "runtime/translator/signals/signal_set.h"
#include "runtime/translator/system.h"

#include <asm/errno.h>
#include <asm/unistd.h>
#include <linux/sched.h>

enum { SET_SIZE = sizeof(uint64_t) };

/* UAPI_SA_FLAGS of include/linux/signal_types.h: the kernel forgets the others. */
static const uint64_t known_flags = (uint64_t)SA_NOCLDSTOP | SA_NOCLDWAIT | SA_SIGINFO |
                                    SA_ONSTACK | SA_RESTART | SA_NODEFER | SA_RESETHAND |
                                    SA_EXPOSE_TAGBITS | SA_RESTORER;

_Static_assert(sizeof(struct tr_action) == 32, "the kernel's struct sigaction");

/* ---- what the kernel is given ---- */

void tr_set_kernel_mask(uint64_t mask)
{
    tr_syscall6(__NR_rt_sigprocmask, SIG_SETMASK, (uint64_t)&mask, 0, SET_SIZE, 0, 0);
}

int64_t tr_set_kernel_action(int signal, const struct tr_action *action)
{
    return tr_syscall6(__NR_rt_sigaction, (uint64_t)signal, (uint64_t)action, 0, SET_SIZE, 0, 0);
}

int64_t tr_get_kernel_action(int signal, struct tr_action *action)
{
    return tr_syscall6(__NR_rt_sigaction, (uint64_t)signal, 0, (uint64_t)action, SET_SIZE, 0, 0);
}

static bool is_kernels(int signal, const struct tr_action *action)
{
    return (action->handler == TR_IGNORE && !is_synchronous(signal)) ||
           (action->handler == TR_DEFAULT && !dies_in_runtime(signal));
}

/* SA_RESTART: a synchronous signal that the program leaves to the kernel interrupts as few system calls as possible. */
int64_t tr_install_action(int signal, const struct tr_action *action)
{
    if (is_kernels(signal, action))
        return tr_set_kernel_action(signal, action);
    uint64_t kept = action->flags & (SA_RESTART | SA_NOCLDSTOP | SA_NOCLDWAIT);
    if (action->handler <= TR_IGNORE)
        kept |= SA_RESTART;
    struct tr_action ours = {
        .handler = (uint64_t)tr_master_handler,
        .flags = kept | SA_SIGINFO | SA_ONSTACK | SA_RESTORER,
        .restorer = (uint64_t)tr_signal_restorer,
        .mask = all_signals,
    };
    return tr_set_kernel_action(signal, &ours);
}

static void install_alt_stack(void *signal_stack)
{
    stack_t stack = {.ss_sp = signal_stack, .ss_size = TR_SIGNAL_STACK_SIZE};
    tr_syscall(__NR_sigaltstack, (uint64_t)&stack, 0, 0);
}

bool tr_queue_again(int signal, void *info)
{
    uint64_t process = (uint64_t)tr_syscall(__NR_getpid, 0, 0, 0),
             thread = (uint64_t)tr_syscall(__NR_gettid, 0, 0, 0);
    return tr_syscall6(__NR_rt_tgsigqueueinfo, process, thread, (uint64_t)signal, (uint64_t)info, 0,
                       0) == 0;
}

/* ---- beginning ---- */

/* The first frame that the kernel makes shows how large the extended state is; frames that the
 * program forces later (a bad sigreturn) may come before any other. The master handler drops this
 * signal. */
static void learn_extended_state(struct tr_signals_of_thread *signals)
{
    uint64_t process = (uint64_t)tr_syscall(__NR_getpid, 0, 0, 0),
             thread = (uint64_t)tr_syscall(__NR_gettid, 0, 0, 0);
    signals->learns = true;
    tr_syscall(__NR_tgkill, process, thread, SIGTRAP);
    signals->learns = false;
}

void tr_signal_begin_process(struct tr_process *process, struct tr_thread *thread,
                             void *signal_stack)
{
    struct tr_signals_of_thread *signals = &thread->signals;
    *signals = (struct tr_signals_of_thread){.actions = process->actions};
    tr_syscall6(__NR_rt_sigprocmask, SIG_SETMASK, (uint64_t)&all_signals, (uint64_t)&signals->mask,
                SET_SIZE, 0, 0);
    install_alt_stack(signal_stack);
    tr_signal_take_over_actions(process);
    tr_set_kernel_mask(~synchronous_signals);
    learn_extended_state(signals);
    tr_signals_unblock(thread);
}

void tr_signal_take_over_actions(struct tr_process *process)
{
    for (int signal = 1; signal <= TR_SIGNALS; signal++) {
        struct tr_action *action = &process->actions[signal - 1];
        if (tr_get_kernel_action(signal, action) == 0 && !is_kernels(signal, action))
            tr_install_action(signal, action);
    }
}

void tr_signal_take_over_thread(struct tr_thread *thread, void *signal_stack)
{
    struct tr_signals_of_thread *signals = &thread->signals;
    stack_t ours = {.ss_sp = signal_stack, .ss_size = TR_SIGNAL_STACK_SIZE}, its;
    tr_syscall(__NR_sigaltstack, (uint64_t)&ours, (uint64_t)&its, 0);
    signals->alt_start = (uint64_t)its.ss_sp;
    signals->alt_size = its.ss_size;
    signals->alt_flags = (uint32_t)its.ss_flags;
    signals->actions = thread->process->actions;
    tr_signals_unblock(thread);
}

void tr_signal_before_clone(struct tr_thread *parent, struct tr_thread *child, uint64_t flags)
{
    struct tr_signals_of_thread *ours = &parent->signals, *its = &child->signals;
    if (!(flags & CLONE_VM)) {
        tr_lock(&tr_process.action_lock);
        ours->forks = true;
        tr_signals_block_handled(parent); /* once more: dispositions no longer change */
    } else {
        memcpy(its, ours, sizeof *its);
        if (!(flags & CLONE_SIGHAND)) {
            tr_lock(&tr_process.action_lock);
            memcpy(its->own_actions, ours->actions, sizeof its->own_actions);
            tr_unlock(&tr_process.action_lock);
            its->actions = its->own_actions;
        }
        if (!(flags & CLONE_VFORK)) {
            its->alt_start = its->alt_size = 0;
            its->alt_flags = SS_DISABLE;
        }
    }
    its->clears_actions = flags & CLONE_CLEAR_SIGHAND;
}

void tr_signal_after_clone(struct tr_thread *parent)
{
    struct tr_signals_of_thread *signals = &parent->signals;
    if (signals->forks)
        tr_unlock(&tr_process.action_lock);
    signals->forks = signals->clears_actions = false;
}

/* The kernel has done that for its own (flush_signal_handlers). */
static void clear_actions(struct tr_signals_of_thread *signals)
{
    for (int signal = 1; signal <= TR_SIGNALS; signal++) {
        struct tr_action *action = &signals->actions[signal - 1];
        bool ignored = action->handler == TR_IGNORE;
        *action = (struct tr_action){.handler = ignored ? TR_IGNORE : TR_DEFAULT};
        if (!is_kernels(signal, action))
            tr_install_action(signal, action);
    }
}

void tr_signal_begin_faults(struct tr_thread *thread, void *signal_stack)
{
    struct tr_signals_of_thread *signals = &thread->signals;
    install_alt_stack(signal_stack);
    if (signals->clears_actions)
        clear_actions(signals);
}

void tr_signal_begin_thread(struct tr_thread *thread)
{
    struct tr_signals_of_thread *signals = &thread->signals;
    signals->pending = 0;
    signals->held = signals->forced = 0;
    tr_signal_after_clone(thread);
    tr_signals_unblock(thread);
}

/* ---- masks ---- */

static bool set_kernel_mask_unless_pending(struct tr_signals_of_thread *signals, uint64_t mask)
{
    const uint64_t arguments[6] = {SIG_SETMASK, (uint64_t)&mask, 0, SET_SIZE};
    int64_t result;
    return tr_make_syscall(&signals->pending, __NR_rt_sigprocmask, arguments, &result);
}

bool tr_signals_block(struct tr_thread *thread)
{
    tr_set_kernel_mask(~synchronous_signals);
    return thread->signals.pending != 0;
}

static bool is_ignored(int signal, const struct tr_action *action)
{
    return action->handler == TR_IGNORE ||
           (action->handler == TR_DEFAULT && (ignored_by_default & signal_bit(signal)));
}

/* The kernel is asked, too: a thread that goes on natively already may have set a handler. */
static bool kernel_ignores(int signal)
{
    struct tr_action action;
    return tr_get_kernel_action(signal, &action) == 0 && is_ignored(signal, &action);
}

/* sig_ignored of kernel/signal.c: a signal that a thread blocks is kept, though it is ignored. */
uint64_t tr_dropped_signals(const struct tr_signals_of_thread *signals)
{
    const uint64_t never = signals->mask | synchronous_signals | unblockable_signals;
    uint64_t dropped = 0;
    for (int signal = 1; signal <= TR_SIGNALS; signal++)
        if (!(never & signal_bit(signal)) && is_ignored(signal, &signals->actions[signal - 1]) &&
            kernel_ignores(signal))
            dropped |= signal_bit(signal);
    return dropped;
}

bool tr_signals_block_handled(struct tr_thread *thread)
{
    struct tr_signals_of_thread *signals = &thread->signals;
    uint64_t mask = ~synchronous_signals & ~tr_dropped_signals(signals);
    return !set_kernel_mask_unless_pending(signals, mask) && tr_signals_block(thread);
}

void tr_signals_unblock(struct tr_thread *thread)
{
    tr_unblock_unless_pending(&thread->signals, thread->signals.mask);
}

uint64_t tr_deliverable(const struct tr_signals_of_thread *signals)
{
    return signals->held & (~signals->mask | signals->forced);
}

static void change_pending(struct tr_signals_of_thread *signals, int from, int to)
{
    __atomic_compare_exchange_n(&signals->pending, &from, to, false, __ATOMIC_SEQ_CST,
                                __ATOMIC_SEQ_CST);
}

void tr_set_held_pending(struct tr_signals_of_thread *signals)
{
    change_pending(signals, 0, TR_PENDING_HELD);
}

void tr_forget_held_pending(struct tr_signals_of_thread *signals)
{
    change_pending(signals, TR_PENDING_HELD, 0);
}

void tr_notice_held(struct tr_signals_of_thread *signals)
{
    if (tr_deliverable(signals))
        tr_set_held_pending(signals);
}

void tr_force_signal(struct tr_signals_of_thread *signals, int signal, const void *info)
{
    memcpy(signals->held_info[synchronous_index(signal)], info, TR_SIGNAL_INFO);
    signals->forced |= signal_bit(signal);
    __atomic_fetch_or(&signals->held, signal_bit(signal), __ATOMIC_SEQ_CST);
    tr_notice_held(signals);
}

bool tr_take_held(struct tr_signals_of_thread *signals, int signal, void *info)
{
    bool forced = signals->forced & signal_bit(signal);
    memcpy(info, signals->held_info[synchronous_index(signal)], TR_SIGNAL_INFO);
    signals->forced &= ~signal_bit(signal);
    __atomic_fetch_and(&signals->held, ~signal_bit(signal), __ATOMIC_SEQ_CST);
    return forced;
}

bool tr_unblock_unless_pending(struct tr_signals_of_thread *signals, uint64_t mask)
{
    return set_kernel_mask_unless_pending(signals, mask & ~synchronous_signals);
}

/* The handler of a signal that came first is not to run after the program has blocked it. */
bool tr_change_mask(struct tr_signals_of_thread *signals, uint64_t mask)
{
    uint64_t before = signals->mask;
    signals->mask = mask;
    if (!tr_unblock_unless_pending(signals, mask)) {
        signals->mask = before;
        return false;
    }
    tr_notice_held(signals);
    return true;
}

int64_t tr_sys_rt_sigprocmask(struct tr_thread *thread)
{
    const uint64_t *r = thread->app.r;
    struct tr_signals_of_thread *signals = &thread->signals;
    uint64_t before = signals->mask, mask = before;
    if (r[TR_R10] != SET_SIZE)
        return -EINVAL;
    if (r[TR_RSI]) {
        uint64_t set;
        if (!tr_read_safely(&set, r[TR_RSI], sizeof set))
            return -EFAULT;
        set &= ~unblockable_signals;
        switch ((int)r[TR_RDI]) {
        case SIG_BLOCK:
            mask |= set;
            break;
        case SIG_UNBLOCK:
            mask &= ~set;
            break;
        case SIG_SETMASK:
            mask = set;
            break;
        default:
            return -EINVAL;
        }
    }
    if (mask != before && !tr_change_mask(signals, mask))
        return TR_RESTART;
    return !r[TR_RDX] || tr_write_safely(r[TR_RDX], &before, sizeof before) ? 0 : -EFAULT;
}

int64_t tr_sys_rt_sigpending(struct tr_thread *thread)
{
    const uint64_t *r = thread->app.r;
    uint64_t set, size = r[TR_RSI];
    if (size > SET_SIZE)
        return -EINVAL;
    int64_t result = tr_syscall(__NR_rt_sigpending, (uint64_t)&set, SET_SIZE, 0);
    if (result != 0)
        return result;
    set |= thread->signals.held & thread->signals.mask;
    return tr_write_safely(r[TR_RDI], &set, size) ? 0 : -EFAULT;
}

int64_t tr_sys_sigaltstack(struct tr_thread *thread)
{
    const uint64_t *r = thread->app.r;
    struct tr_signals_of_thread *signals = &thread->signals;
    uint64_t pointer = r[TR_RSP];
    uint32_t flags = signals->alt_flags & SS_AUTODISARM;
    if (signals->alt_size == 0)
        flags |= SS_DISABLE;
    else if (tr_on_alt_stack(signals, pointer))
        flags |= SS_ONSTACK;
    stack_t before = {
        .ss_sp = (void *)signals->alt_start,
        .ss_flags = (int)flags,
        .ss_size = signals->alt_size,
    };
    if (r[TR_RDI]) {
        stack_t stack;
        if (!tr_read_safely(&stack, r[TR_RDI], sizeof stack))
            return -EFAULT;
        int64_t result = tr_set_alt_stack(signals, &stack, pointer);
        if (result != 0)
            return result;
    }
    return !r[TR_RSI] || tr_write_safely(r[TR_RSI], &before, sizeof before) ? 0 : -EFAULT;
}

/* ---- dispositions ---- */

/* An ignored signal is forgotten where it is pending, in all threads. */
static void forget_held(const struct tr_thread *thread, int signal)
{
    for (struct tr_thread *other = thread->process->threads; other; other = other->next)
        if (other->signals.actions == thread->signals.actions)
            __atomic_fetch_and(&other->signals.held, ~signal_bit(signal), __ATOMIC_SEQ_CST);
}

static int64_t change_action(struct tr_thread *thread, int signal, const struct tr_action *wanted)
{
    struct tr_action *action = &thread->signals.actions[signal - 1];
    tr_lock(&tr_process.action_lock);
    struct tr_action before = *action;
    *action = *wanted;
    int64_t result = tr_install_action(signal, action);
    if (result != 0)
        *action = before;
    tr_unlock(&tr_process.action_lock);
    if (is_synchronous(signal) && wanted->handler == TR_IGNORE)
        forget_held(thread, signal);
    return result;
}

int64_t tr_sys_rt_sigaction(struct tr_thread *thread)
{
    const uint64_t *r = thread->app.r;
    int signal = (int)r[TR_RDI];
    struct tr_action wanted, before;
    if (r[TR_R10] != SET_SIZE)
        return -EINVAL;
    if (r[TR_RSI] && !tr_read_safely(&wanted, r[TR_RSI], sizeof wanted))
        return -EFAULT;
    if (signal < 1 || signal > TR_SIGNALS ||
        (r[TR_RSI] && (unblockable_signals & signal_bit(signal))))
        return -EINVAL;
    before = thread->signals.actions[signal - 1];
    if (r[TR_RSI]) {
        if (thread->signals.pending)
            return TR_RESTART;
        wanted.flags &= known_flags;
        wanted.mask &= ~unblockable_signals;
        int64_t result = change_action(thread, signal, &wanted);
        if (result != 0)
            return result;
    }
    return !r[TR_RDX] || tr_write_safely(r[TR_RDX], &before, sizeof before) ? 0 : -EFAULT;
}

struct tr_action tr_take_action(struct tr_action *actions, int signal)
{
    tr_lock(&tr_process.action_lock);
    struct tr_action action = actions[signal - 1];
    if (action.handler > TR_IGNORE && (action.flags & SA_RESETHAND)) {
        actions[signal - 1].handler = TR_DEFAULT;
        tr_install_action(signal, &actions[signal - 1]);
    }
    tr_unlock(&tr_process.action_lock);
    return action;
}

/* ---- execve ---- */

/* The kernel ignores what the program ignores of the synchronous signals, or (failed exec) is to
 * hand them over again. */
static void leave_ignored_to_kernel(struct tr_signals_of_thread *signals, bool leave)
{
    for (int signal = 1; signal <= TR_SIGNALS; signal++) {
        const struct tr_action *action = &signals->actions[signal - 1];
        if (is_synchronous(signal) && action->handler == TR_IGNORE)
            (leave ? tr_set_kernel_action : tr_install_action)(signal, action);
    }
}

void tr_signal_before_exec(struct tr_thread *thread)
{
    leave_ignored_to_kernel(&thread->signals, true);
    set_kernel_mask_unless_pending(&thread->signals, thread->signals.mask);
}

void tr_signal_after_failed_exec(struct tr_thread *thread)
{
    leave_ignored_to_kernel(&thread->signals, false);
    tr_signals_unblock(thread);
}
