/* A thread that was traced goes on natively.
 *
 * All of its registers have to be loaded at once, with the signal mask, and nothing of ours may be needed any more
 * when the program's first instruction runs. The kernel does that when a signal handler returns: so tr_let_go raises
 * a SIGILL, and the master handler puts the program's state into that signal's context.
 */
#include "runtime/translator/code_pages.h"
#include "runtime/translator/log.h"
#include "runtime/translator/signal.h"
#include "runtime/translator/syscall.h"
#include "runtime/translator/system.h"

#include <asm/sigcontext.h>
#include <asm/siginfo.h>
#include <asm/signal.h>
#include <asm/ucontext.h>
#include <asm/unistd.h>

/* Whether other threads of the process stay in the cache, and need our handlers and the protection of code.
 * Whoever shares the memory with its parent has handlers of its own. */
static bool others_stay(struct tr_thread *thread)
{
    if (thread->vforked)
        return false;
    return __atomic_sub_fetch(&thread->process->running, 1, __ATOMIC_ACQ_REL) != 0;
}

/* Signals that the runtime has taken from the kernel and the program has not seen: the kernel gets them back.
 * A fault comes again by itself. */
static void return_signals(struct tr_thread *thread)
{
    struct tr_signals_of_thread *signals = &thread->signals;
    if (signals->pending && !signals->pending_is_fault)
        tr_syscall6(__NR_rt_tgsigqueueinfo, (uint64_t)thread->pid, (uint64_t)thread->tid,
                    (uint64_t)signals->pending, (uint64_t)signals->info, 0, 0);
    signals->pending = 0;
    for (unsigned signal = 1; signal <= 64; signal++)
        if (signals->held >> (signal - 1) & 1)
            tr_syscall(__NR_tgkill, (uint64_t)thread->pid, (uint64_t)thread->tid, signal);
    signals->held = 0;
}

void tr_let_go(struct tr_thread *thread, enum tr_slot_end reason)
{
    struct tr_process *process = thread->process;
    tr_signals_block(thread);
    if (thread->slot && !thread->stops)
        tr_log_stop(thread, reason, thread->app.pc);
    bool stay = others_stay(thread);
    if (!stay && !thread->vforked) {
        tr_lock(&process->lock);
        tr_code_let_go(thread);
        tr_unlock(&process->lock);
    }
    return_signals(thread);
    thread->let_go = true;
    __atomic_store_n(&thread->state, stay ? TR_THREAD_NATIVE : TR_THREAD_USED, __ATOMIC_RELEASE);
    __asm__ volatile(".globl tr_let_go_trap\n"
                     ".hidden tr_let_go_trap\n"
                     "tr_let_go_trap: ud2"
                     :
                     :
                     : "memory");
    __builtin_unreachable();
}

static void load_registers(struct sigcontext *context, const struct tr_state *state)
{
    static const uint64_t of_program = 0x244dd5; /* the flags that a program can change: CF, PF, AF, ZF, SF, TF, DF,
                                                    OF, NT, AC, ID; FIX_EFLAGS in arch/x86/kernel/signal_64.c */
    const uint64_t *r = state->r;
    context->rax = r[TR_RAX];
    context->rcx = r[TR_RCX];
    context->rdx = r[TR_RDX];
    context->rbx = r[TR_RBX];
    context->rsp = r[TR_RSP];
    context->rbp = r[TR_RBP];
    context->rsi = r[TR_RSI];
    context->rdi = r[TR_RDI];
    context->r8 = r[TR_R8];
    context->r9 = r[TR_R9];
    context->r10 = r[TR_R10];
    context->r11 = r[TR_R11];
    context->r12 = r[TR_R12];
    context->r13 = r[TR_R13];
    context->r14 = r[TR_R14];
    context->r15 = r[TR_R15];
    context->rip = state->pc;
    context->eflags = (context->eflags & ~of_program) | (state->flags & of_program);
}

void tr_let_go_context(struct tr_thread *thread, void *context)
{
    struct ucontext *user = context;
    bool stay = __atomic_load_n(&thread->state, __ATOMIC_ACQUIRE) == TR_THREAD_NATIVE;
    load_registers(&user->uc_mcontext, &thread->app);
    memcpy(&user->uc_sigmask, &thread->signals.mask, sizeof thread->signals.mask);
    user->uc_stack.ss_sp = (void *)thread->signals.alt_start;
    user->uc_stack.ss_size = thread->signals.alt_size;
    user->uc_stack.ss_flags = thread->signals.alt_flags;
    tr_signal_let_go(thread, stay);
    if (!stay)
        tr_thread_set_base(NULL);
}
