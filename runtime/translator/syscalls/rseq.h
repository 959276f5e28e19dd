/* Restartable sequences: what rseq(2) has registered for a thread of a process that was taken over.
 *
 * While the thread is in the cache the kernel does not know of it, and the area says so (its cpu_id is not valid), so that
 * programs take the way that they have for old kernels. A new thread may register one, because glibc ends a program whose
 * first thread could and another could not. */
#ifndef MAGIC_TRACE_RUNTIME_TRANSLATOR_RSEQ_H
#define MAGIC_TRACE_RUNTIME_TRANSLATOR_RSEQ_H

#include "runtime/translator/thread.h"

/* The calling thread begins to be traced, or goes on natively. */
void tr_rseq_suspend(const struct tr_thread *thread);
void tr_rseq_resume(const struct tr_thread *thread);

/* The system call, with the program's arguments in thread->app. Fails as on old kernels in programs that `run` started. */
int64_t tr_sys_rseq(struct tr_thread *thread);

#endif
