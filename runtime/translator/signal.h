/* Signals of the traced program.
 *
 * The kernel knows one handler, ours (tr_master_handler), for every signal that the program handles, and for SIGSEGV,
 * SIGBUS, SIGILL, SIGFPE and SIGTRAP always. It runs on a stack of its own (sigaltstack; the program's own sigaltstack
 * is kept in tr_thread.signals and given to the program's handlers by us), with all signals blocked, and always leaves
 * by sigreturn. Signals with default or ignored disposition are the kernel's own business.
 *
 * Where the signal finds the thread:
 *   - in the cache, asynchronous: siginfo is kept in thread->signals, all signals but the synchronous ones stay blocked
 *     on return (uc_sigmask), hot.limit and hot.run become 0: the next fragment's head leaves the cache
 *     (tr_signal_deliver follows there).
 *   - in the cache, a fault of a copied instruction: tr_find_state (translate.h) gives the program's state at it;
 *     the handler's context is changed so that the runtime goes on in tr_resume_from_handler (enter.S), which delivers.
 *   - in the cache, a fault of ours: the log's guard page (log.h), a write to code (code_pages.h): mended, and goes on.
 *   - in tr_safe_syscall: see below.
 *   - at an address of the program's own code: an instruction that the translator left to the processor (TR_TRAP):
 *     its fault, or the address that cannot be executed. State is the context's but r11... see signal.c.
 *   - elsewhere in the runtime: kept as in the cache; the runtime looks before it enters the cache.
 *   - a fault in tr_probe_read (code_pages.h): it returns false.
 *
 * Delivery makes the frame that the kernel would have made (arch/x86/kernel/signal_64.c, struct rt_sigframe) on the
 * program's stack or its sigaltstack, with the vector state saved by XSAVE as it is then, and sets app.pc to the
 * handler. rt_sigreturn is emulated.
 */
#ifndef MAGIC_TRACE_RUNTIME_TRANSLATOR_SIGNAL_H
#define MAGIC_TRACE_RUNTIME_TRANSLATOR_SIGNAL_H

#include "runtime/translator/thread.h"

/* At start: takes over the dispositions that the program inherited, installs the master handler for the synchronous
 * signals, and for the first thread as tr_signal_begin_thread. */
void tr_signal_begin_process(struct tr_process *process, struct tr_thread *thread);

/* In a new thread, with all signals blocked, before it enters the cache: its alternate stack (`signal_stack`,
 * TR_SIGNAL_STACK_SIZE bytes, belongs to the thread). The program's sigaltstack of a new thread is disabled (clone
 * with CLONE_VM and without CLONE_VFORK), of a forked or vforked child inherited. */
void tr_signal_begin_thread(struct tr_thread *thread, void *signal_stack);

/* Delivers what is pending to the program: changes thread->app (pc, rsp, rdi, rsi, rdx, rax, flags) so that the
 * handler runs next, logs TR_PARTIAL when `in_fragment` (the log's last entry is a fragment of which what lies before
 * app.pc ran) and TR_HANDLER. Nothing when nothing is pending. A signal that the program does not handle (a
 * fault with default disposition) ends the process as it would without us: a death record, then natively at app.pc.
 * Whether a handler runs next (app has changed). */
bool tr_signal_deliver(struct tr_thread *thread, bool in_fragment);

/* The system calls, with the program's arguments in thread->app; each returns what the program gets in rax. */
int64_t tr_sys_rt_sigaction(struct tr_thread *thread);
int64_t tr_sys_rt_sigprocmask(struct tr_thread *thread);
int64_t tr_sys_sigaltstack(struct tr_thread *thread);
int64_t tr_sys_rt_sigpending(struct tr_thread *thread);
int64_t tr_sys_rt_sigtimedwait(struct tr_thread *thread);
/* Changes thread->app to what the frame at the program's stack pointer says. */
void tr_sys_rt_sigreturn(struct tr_thread *thread);

/* Makes a system call that may block. Either the call was made and its result is returned, or a signal came first:
 * false, and the call was not made, or has to be made again after the handler (the kernel would restart it). */
bool tr_safe_syscall(struct tr_thread *thread, int64_t number, const uint64_t arguments[6], int64_t *result);

/* Blocks all signals but the synchronous ones for a short work of the runtime, and sets them to what the program
 * wants again. */
void tr_signals_block(struct tr_thread *thread);
void tr_signals_unblock(struct tr_thread *thread);

/* Gives the kernel what the program believes to have: dispositions (unless `keep_actions`: another thread still needs
 * ours), sigaltstack, mask. For going on natively. */
void tr_signal_let_go(struct tr_thread *thread, bool keep_actions);

/* The master handler, for enter.S's restorer and tests. */
void tr_master_handler(int signal, void *info, void *context);

#endif
