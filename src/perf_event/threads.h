/* The threads of a process that runs, as /proc lists them (proc(5), /proc/PID/task).
 *
 * Sets of threads are arrays of their numbers, uint32_t, ascending.
 *
 * Used by all who open events of the kernel: engine/pt/, engine/sample/, watched_threads.c.
 */
#ifndef MAGIC_TRACE_PERF_EVENT_THREADS_H
#define MAGIC_TRACE_PERF_EVENT_THREADS_H

#include "base/array.h"
#include "base/error.h"
#include "perf_event/kernel.h"

bool threads_contain(const struct array *tids, pid_t tid);

/* Adds those that are not in `known` to it, and, in any order, to `found`, which may be NULL. 0 or
 * an errno: ENOENT or ESRCH, there is no such process. */
int threads_list(struct array *known, struct array *found, const struct kernel *kernel, pid_t pid);

/* Finds all threads while some are created and others end. The list is no snapshot: a thread that
 * ends while it is read may hide others. So it is read until two readings have shown no new thread.
 *
 *     thread_search_begin(&search, kernel, pid, &known);
 *     while (!search.over && thread_search_look(&search, error))
 *         ... search.found ...
 *     thread_search_end(&search);
 */
struct thread_search {
    const struct kernel *kernel;
    pid_t pid;
    /* a set, borrowed: threads to ignore; the search adds those that it finds */
    struct array *known;
    struct array found; /* of uint32_t: found by the last reading */
    unsigned quiet;     /* successive readings that found nothing */
    bool over;          /* all were found, or there is no such process */
};

void thread_search_begin(struct thread_search *search, const struct kernel *kernel, pid_t pid,
                         struct array *known);

/* False and `error`: the threads cannot be listed. */
bool thread_search_look(struct thread_search *search, struct error *error);
void thread_search_end(struct thread_search *search);

#endif
