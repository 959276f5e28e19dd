/* The threads of a process that runs, as /proc lists them (proc(5), /proc/PID/task).
 */
#ifndef MAGIC_TRACE_ENGINE_PERF_EVENT_THREADS_H
#define MAGIC_TRACE_ENGINE_PERF_EVENT_THREADS_H

#include "base/array.h"
#include "engine/perf_event/kernel.h"

/* Appends their numbers (pid_t); none when there is no such process. */
void threads_list(struct array *tids, const struct kernel *kernel, pid_t pid);

#endif
