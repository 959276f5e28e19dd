/* Recording calls of selected functions alone (-only): each from its function's first instruction until it returns, with all that it
 * calls. A thread is in the cache, and writes its log, while such a call is in progress. Before and after it runs natively.
 *
 * It comes into the cache by INT3 (code/breakpoints.h), and out of it where the call returns to: there a fragment begins that asks the
 * runtime, as with -longer-than (timed_calls.h). A call may be left by longjmp or an exception, too. Where that leads to has run natively
 * until then, so the cache does not know it, the runtime is asked, and by the stack pointer the call is over. Code that the cache knows
 * (it ran within another selected call), and stacks other than the thread's own, of which the pointer says too little, have to wait for the
 * next system call.
 *
 * Where the thread changes to another stack within the call, what runs there is either part of the call (Go's systemstack) or the code that
 * was suspended there: then that code returns into what lies on the stack, or changes to a third one. In this case the call is suspended
 * (suspended_calls.h): all threads that come to the runtime are recorded until it has returned, and selected functions ask the runtime in the cache, too,
 * since fibers that run meanwhile may call them.
 *
 * System calls of native code come to the runtime, too, as SIGSYS (Syscall User Dispatch, Linux 5.11, Documentation/admin-guide/
 * syscall-user-dispatch.rst), so that signal masks, dispositions, mappings, threads and processes are looked after as in the cache.
 * So while a thread runs natively the kernel's state of it is that of a thread in the cache: our handlers, alternate stack and gs base.
 *
 * Called by dispatch.c, the master handler and let_go.c, by each thread for itself.
 */
#ifndef MAGIC_TRACE_RUNTIME_TRANSLATOR_SELECTED_CALLS_H
#define MAGIC_TRACE_RUNTIME_TRANSLATOR_SELECTED_CALLS_H

#include "runtime/translator/thread.h"

/* The thread goes on natively at app.pc, until it comes to a selected function, a system call or a signal. `thread->app` is whole.
 * Returns when a signal came before: it is to be delivered first. */
void tr_selected_run_natively(struct tr_thread *thread);

/* The runtime is entered from native code, whose state is in thread->app: begins the call that has been come to, or makes the system call. */
void tr_selected_resume(struct tr_thread *thread);

/* The thread is about to run natively at app.pc. Whether it is to be recorded from here on, because calls are suspended that it may go on with. */
bool tr_selected_join(struct tr_thread *thread);

/* The stack pointer was loaded: app has the new one, hot.stack_before the old one. */
void tr_selected_stack_loaded(struct tr_thread *thread);

/* At a comparison with the limit: looks which stack runs. */
void tr_selected_stack_runs(struct tr_thread *thread);

/* An indirect branch leads to app.pc, and its fragment is not known: if the branch has left the call in progress, it becomes a place that
 * asks tr_selected_is_over(). Not under process->lock. */
void tr_selected_jumps(struct tr_thread *thread);

/* The fragment at app.pc, where a selected call begins or returns or has jumped to, has been entered: whether the thread is not to be recorded
 * any more. */
bool tr_selected_is_over(struct tr_thread *thread);

/* The log ends, before app.pc. */
void tr_selected_end(struct tr_thread *thread);

/* After a system call, whose end has been logged: ends a call that was left otherwise. */
void tr_selected_look(struct tr_thread *thread);

/* A signal, for the master handler. True: it came from native code because of the above, and `context` is changed so that the runtime goes
 * on, or the code. */
bool tr_selected_signal(struct tr_thread *thread, const void *info, void *context);

/* Whether the thread was about to run natively when a signal came: thread->app is whole. */
static inline bool tr_selected_was_leaving(const struct tr_thread *thread)
{
    return thread->selected.native;
}

/* The kernel makes the thread's system calls itself again. */
void tr_selected_let_go(struct tr_thread *thread);

#endif
