/* Processes as /proc shows them: who descends from whom, which are ours.
 */
#ifndef MAGIC_TRACE_PROCESS_PROCESSES_H
#define MAGIC_TRACE_PROCESS_PROCESSES_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Whether `pid` is `ancestor` or descends from it (through living processes). */
bool process_descends_from(pid_t pid, pid_t ancestor);

/* One letter as in proc(5): 'R' running, 'S' sleeping, 'Z' dead...; 0 when there is no such thread.
 */
char thread_state(pid_t pid, pid_t tid);

/* Nanoseconds that it has run for; 0 when there is no such thread or the kernel does not count them
 * (schedstat, "Scheduler Statistics" of the kernel's documentation). */
uint64_t thread_processor_time(pid_t pid, pid_t tid);

/* Ends `program` and everything that descends from it by SIGKILL: nothing is left behind, not even
 * what is started meanwhile. Processes that had left the tree before (daemons) are found by `word`,
 * an argument (or its beginning) on their command line: that of our plugin, under which they run.
 * `program` itself is left to be waited for. */
void processes_kill_all(pid_t program, const char *word);

#endif
