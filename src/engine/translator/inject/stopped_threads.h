/* All threads of a process, stopped by ptrace for a moment.
 *
 * Called by take_over.c and release.c from one thread, which is their tracer. Threads are stopped by PTRACE_SEIZE and
 * PTRACE_INTERRUPT: no signal is sent, and those that come meanwhile take effect first.
 */
#ifndef MAGIC_TRACE_ENGINE_TRANSLATOR_STOPPED_THREADS_H
#define MAGIC_TRACE_ENGINE_TRANSLATOR_STOPPED_THREADS_H

#include "base/array.h"
#include "base/error.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/user.h>

/* The name of processes that do this, which is how others know that it does not last. */
#define THREADS_STOPPER "mt-attacher"

struct stopped_thread {
    pid_t tid;
    bool stopped;   /* else it has ended, or has not stopped yet */
    bool was_ours;  /* we traced it before, with breakpoints, which go when it is let go */
    bool asked;     /* to stop */
    unsigned turn;  /* in which it goes on, from 0 */
    unsigned tries; /* how often it was continued for a signal that came first */
    unsigned looks; /* until it is interrupted again, because no signal came */
    /* As it stopped; `next` is where it goes on: of an interrupted system call, before its SYSCALL instruction. */
    struct user_regs_struct registers, next;
    bool calls; /* it makes a system call again */
    bool waits; /* one that returns EINTR when the kernel wakes it for a signal that is ignored */
    uint64_t mask;
};

struct stopped_threads {
    pid_t pid;
    bool ours; /* as of threads_stop_at, like `first` */
    pid_t first;
    unsigned patience_ms; /* for threads that the kernel does not stop */
    int memory;           /* /proc/PID/mem, for reading and writing */
    struct array threads; /* of struct stopped_thread, in the order in which they are to go on */
    size_t seized;        /* how many there were, also of those that have ended */
};

/* Parents of processes are the first of the threads and those that wait the last: whoever lets single ones go keeps to that order.
 * False: nothing has changed; the error's text is the end of a sentence ("it is traced already"). Waits about a tenth of a second
 * for threads that the kernel does not stop, as while a child made by vfork runs: ERROR_IO then, and it can be tried
 * again. ERROR_NOT_FOUND: there is no such process any more. */
bool threads_stop(struct stopped_threads *stopped, pid_t pid, struct error *error);

/* The same for a process all of whose threads this process traces, with breakpoints in their debug registers: `first` has hit one
 * and is stopped there, by a signal that it does not get; it becomes the first of the threads (0: none has). Waits longer. */
bool threads_stop_at(struct stopped_threads *stopped, pid_t pid, pid_t first, struct error *error);

/* Those that are still stopped go on as if they had not been, and are not traced any more. Frees all. */
void threads_go_on(struct stopped_threads *stopped);

/* Those of another tracer, which was killed. */
void threads_clear_breakpoints(const struct stopped_threads *stopped);

/* One that was moved: it goes on where its registers say now. */
void thread_detach(struct stopped_thread *thread);

/* Stops one thread again that was continued. False: it is gone or does not stop. */
bool thread_stop_again(struct stopped_thread *thread);

bool thread_set(struct stopped_thread *thread, const struct user_regs_struct *registers,
                uint64_t mask);

/* Memory of the process. */
bool threads_read(const struct stopped_threads *stopped, uint64_t address, void *bytes,
                  size_t size);
bool threads_write(const struct stopped_threads *stopped, uint64_t address, const void *bytes,
                   size_t size);

#endif
