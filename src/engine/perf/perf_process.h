/* perf as a child process: in a process group of its own, so that Ctrl-C does not reach it, and
 * ended by SIGTERM when we die. Its messages go into a file, which is read when it has failed.
 */
#ifndef MAGIC_TRACE_ENGINE_PERF_PERF_PROCESS_H
#define MAGIC_TRACE_ENGINE_PERF_PERF_PROCESS_H

#include "base/error.h"
#include "process/signals.h"

#include <stdint.h>
#include <sys/types.h>

struct perf_process {
    pid_t pid;
    int descriptor; /* of pidfd_of */
    int messages;   /* a file in memory: all that perf printed */
    int status;     /* as from waitpid, when it has ended */
    bool ended;
};

/* `arguments` as of perf_arguments(). perf inherits the descriptors `inherited` (negative: none)
 * under their numbers. */
bool perf_process_start(struct perf_process *process, char *const *arguments,
                        const struct signals *signals, const int *inherited, size_t inherited_count,
                        struct error *error);

/* To be called when the descriptor is readable. */
void perf_process_reap(struct perf_process *process);

/* Sends a signal to perf alone, not to processes that it started; nothing when it has ended. */
void perf_process_signal(const struct perf_process *process, int number);

/* Grows as long as perf works: the processor time that it has used. */
uint64_t perf_process_work(const struct perf_process *process);

/* Whether it runs, or waits for a processor or a disk (proc(5)): on a busy machine it may do so for
 * long without any work done. */
bool perf_process_is_busy(const struct perf_process *process);

/* Whether it waits for its events, in its main loop: how perf without a control channel is seen to
 * be ready. */
bool perf_process_waits(const struct perf_process *process);

/* The end of what it has said, without what it always says; the caller frees. */
char *perf_process_words(const struct perf_process *process);

/* It must have ended. */
void perf_process_free(struct perf_process *process);

#endif
