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

/* Looks for all of them while they are born and end. The list is no snapshot: threads that end
 * while it is read may hide others. So it is read until it has shown nothing new twice.
 *
 *     thread_search_begin(&search, kernel, pid, &known);
 *     while (!search.over && thread_search_look(&search, error))
 *         ... search.found ...
 *     thread_search_end(&search);
 */
struct thread_search {
    const struct kernel *kernel;
    pid_t pid;
    struct array
        *known;         /* a set, borrowed: who is in it is not looked for; grows by who is found */
    struct array found; /* of uint32_t: by the last look */
    unsigned quiet;     /* looks in a row that found nothing */
    bool over;          /* nobody is left to be looked for, or there is no such process */
};

void thread_search_begin(struct thread_search *search, const struct kernel *kernel, pid_t pid,
                         struct array *known);

/* False and `error`: the threads cannot be listed. */
bool thread_search_look(struct thread_search *search, struct error *error);
void thread_search_end(struct thread_search *search);

#endif
