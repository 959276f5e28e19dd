/* The state before the recording: the names and mapped code of processes that already run, as the
 * kernel's records would have reported them.
 *
 * Read from /proc, by engines that attach. The process may run meanwhile: the kernel (or the
 * engine) reports what it does from then on by records of its own.
 */
#ifndef MAGIC_TRACE_PERF_EVENT_RUNNING_PROCESS_H
#define MAGIC_TRACE_PERF_EVENT_RUNNING_PROCESS_H

#include "base/arena.h"
#include "base/array.h"
#include "recording/perf_data/raw_perf_data_writer.h"

#include <sys/types.h>

struct running_processes {
    const char *directory; /* the recording's folder, which has images/; borrowed */
    struct array records;  /* of struct sideband_record, without a time: before everything */
    struct array pids;     /* of pid_t: whose mappings are known */
    struct arena memory;   /* the records' strings */
};

void running_processes_begin(struct running_processes *processes, const char *directory);
void running_processes_free(struct running_processes *processes);

/* Adds the name and the creation of the thread `tid` of process `pid`; for a new process, also its
 * name and its code. Code that is in no file (the vDSO, JIT-compiled code) is copied to images/.
 * What cannot be read, because the process has ended, is left out. */
void running_processes_add_thread(struct running_processes *processes, pid_t pid, pid_t tid);

/* The process and all its threads. */
void running_processes_add(struct running_processes *processes, pid_t pid);

/* Writes these records to perf.data. Not for a program that is held before its exec, which replaces
 * all it has. */
bool running_processes_write(struct raw_perf_data_writer *writer, const char *directory,
                             const pid_t *pids, size_t pid_count, struct error *error);

#endif
