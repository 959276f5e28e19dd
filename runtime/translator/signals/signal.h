/* Signals of the traced program.
 *
 * The kernel knows one handler, ours (tr_master_handler), for every signal that the program handles, and for SIGSEGV,
 * SIGBUS, SIGILL, SIGFPE, SIGTRAP and SIGSYS always: these six are called synchronous here, and the kernel's mask never
 * blocks them while the runtime or the cache runs. The handler runs on a stack of its own (sigaltstack; the program's
 * own sigaltstack is kept in tr_thread.signals and given to the program's handlers by us), with all signals blocked,
 * and always leaves by sigreturn. Signals with default or ignored disposition are the kernel's own business, but for
 * the synchronous ones, and those that kill with a core dump by default: their deaths are recorded.
 *
 * Where the signal finds the thread:
 *   - anywhere, one that was sent (kill, timers ...): siginfo is kept in thread->signals, `pending` is set, all signals
 *     but the synchronous ones stay blocked on return (uc_sigmask), hot.limit and hot.run become 0: the next fragment's
 *     head leaves the cache, the runtime looks before it enters the cache (tr_signal_deliver). A synchronous one that
 *     was sent is held apart from the others, for as long as the program blocks it.
 *   - in the cache, a fault of a copied instruction: tr_find_state (fragment.h) gives the program's state at it;
 *     the handler's context is changed so that the runtime goes on in tr_resume_from_handler (enter.S), which delivers.
 *     When a sent signal is pending already, that is delivered there, and the instruction faults again afterwards.
 *   - in the cache, a fault of ours: the log's guard page (log.h), a write to code (code_pages.h): mended, and goes on.
 *   - in tr_safe_syscall: see below.
 *   - at an address of the program's own code: an instruction that the translator left to the processor (TR_TRAP):
 *     its fault, or the address that cannot be executed. All registers are the program's then, r11 too; the log
 *     pointer is in hot.log.
 *   - a fault of the instructions in fault_safe.S: the function returns false.
 *
 * Delivery makes the frame that the kernel would have made (arch/x86/kernel/signal_64.c, struct rt_sigframe) on the
 * program's stack or its sigaltstack, with the vector state saved by XSAVE as it is then, and sets app.pc to the
 * handler. rt_sigreturn is emulated.
 *
 * hot.limit and hot.run belong to the caller. It sets them again after tr_signal_deliver and when a thread begins,
 * and then checks thread->signals.pending once more: a signal may have come in between.
 */
#ifndef MAGIC_TRACE_RUNTIME_TRANSLATOR_SIGNAL_H
#define MAGIC_TRACE_RUNTIME_TRANSLATOR_SIGNAL_H

#include "runtime/translator/thread.h"

/* A system call that the runtime did not make because a signal comes first: what tr_sys_ functions return then. The
 * program goes on at the SYSCALL instruction (app.pc - 2, rax as it was) after its handler: the kernel's
 * -ERESTARTNOINTR. */
enum { TR_RESTART = -513 };

/* At start: takes over the dispositions that the program inherited, installs the master handler for the synchronous
 * signals, and begins the first thread as the next two functions begin another. The gs base is set. */
void tr_signal_begin_process(struct tr_process *process, struct tr_thread *thread,
                             void *signal_stack);

/* Likewise in a process that is taken over while all of its other threads are stopped: its dispositions. Then for each
 * thread that had begun natively, in it, with all signals blocked: the rest. Its mask and `extended_state` are set. */
void tr_signal_take_over_actions(struct tr_process *process);
void tr_signal_take_over_thread(struct tr_thread *thread, void *signal_stack);
/* The program's own dispositions again. */
void tr_signal_give_actions_back(const struct tr_process *process);

/* Around clone, fork and vfork, by the thread that calls it, with signals blocked (tr_signals_block_handled; with CLONE_VM,
 * tr_signals_block before the call itself: the child begins with its parent's gs base). `flags` are those of clone. `child` is the new thread's structure, whose `signals` are set, or with flags that do not share
 * memory `parent` itself. The parent calls tr_signal_after_clone when the system call has returned. */
void tr_signal_before_clone(struct tr_thread *parent, struct tr_thread *child, uint64_t flags);
void tr_signal_after_clone(struct tr_thread *parent);

/* In a new thread or process, with all signals blocked, for which tr_signal_before_clone was called: first its alternate stack
 * (`signal_stack`, TR_SIGNAL_STACK_SIZE bytes, belongs to the thread) and, where the kernel has cleared the dispositions
 * (CLONE_CLEAR_SIGHAND), the master handler: from then on the runtime may read what the program named (fault_safe.h). */
void tr_signal_begin_faults(struct tr_thread *thread, void *signal_stack);

/* After that, before the thread enters the cache: sets the signal mask last, so signals may come from then on. */
void tr_signal_begin_thread(struct tr_thread *thread);

/* Delivers what is pending to the program: changes thread->app (pc, rsp, rdi, rsi, rdx, rax, flags) so that the
 * handler runs next, logs TR_PARTIAL when `in_fragment` (the log's last entry is a fragment of which what lies before
 * app.pc ran) and TR_HANDLER. Nothing without a pending signal. A signal that the program does not handle (a
 * fault with default disposition) ends the process as it would without us: a death record, then natively at app.pc.
 * Signals are unblocked as the program wants it afterwards. Not under process->lock. Whether a handler runs next (app has
 * changed); when not, the log is as it was. */
bool tr_signal_deliver(struct tr_thread *thread, bool in_fragment);

/* The system calls, with the program's arguments in thread->app; each returns what the program gets in rax, or
 * TR_RESTART. */
int64_t tr_sys_rt_sigaction(struct tr_thread *thread);
int64_t tr_sys_rt_sigprocmask(struct tr_thread *thread);
int64_t tr_sys_sigaltstack(struct tr_thread *thread);
int64_t tr_sys_rt_sigpending(struct tr_thread *thread);
int64_t tr_sys_rt_sigtimedwait(struct tr_thread *thread);
/* The program is about to call sigreturn: logs TR_RESTORED, from the frame at its stack pointer. */
void tr_log_restored(struct tr_thread *thread);
/* Changes thread->app to what the frame at the program's stack pointer says, rax, rcx and r11 too, and logs
 * TR_SIGRETURN. A frame that the kernel would refuse makes SIGSEGV pending. */
void tr_sys_rt_sigreturn(struct tr_thread *thread);

/* Makes a system call of the program that may block, or that may raise a signal in the thread itself (kill, seccomp):
 * all that are made with the program's arguments. Either the call was made and its result is returned, or a signal
 * came first: false, and the call was not made, or has to be made again after the handler (TR_RESTART). Knows the calls
 * that change the signal mask while they wait (sigsuspend, ppoll, pselect6, epoll_pwait ...). */
bool tr_safe_syscall(struct tr_thread *thread, int64_t number, const uint64_t arguments[6],
                     int64_t *result);

/* Blocks all signals but the synchronous ones for a short work of the runtime, and sets them to what the program
 * wants again (unless one is pending: tr_signal_deliver does). tr_signals_block returns whether one is pending that
 * must be delivered before a system call that the program cannot take back, as exit: TR_RESTART. */
bool tr_signals_block(struct tr_thread *thread);
/* Likewise, but leaves out those that are ignored and that the program does not block: the kernel would keep them, and end another
 * thread's epoll_wait for them. If another thread sets a handler for one meanwhile it may become pending, as one may that comes
 * before. */
bool tr_signals_block_handled(struct tr_thread *thread);
void tr_signals_unblock(struct tr_thread *thread);

/* execve keeps the signal mask and ignored signals, so the kernel has to know them: call the first right before
 * execve, which tr_safe_syscall makes with signals unblocked, and the second after it has failed. */
void tr_signal_before_exec(struct tr_thread *thread);
void tr_signal_after_failed_exec(struct tr_thread *thread);

/* For going on natively. The first gives the kernel what the program set: dispositions (unless `keep_actions`:
 * another thread still needs ours), sigaltstack, what is pending; signals stay blocked, but for those that are ignored. The second lets the
 * thread go on at thread->app, with vector state as it is, the program's signal mask, and gs base 0: by a frame on
 * the runtime's stack and the kernel's sigreturn, all at once. */
void tr_signal_let_go(struct tr_thread *thread, bool keep_actions);
_Noreturn void tr_signal_return_natively(struct tr_thread *thread);

/* The master handler, for the kernel and tests. */
__attribute__((visibility("hidden"))) void tr_master_handler(int signal, void *info, void *context);

#endif
