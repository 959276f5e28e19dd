/* Processes as /proc shows them: who descends from whom, which are ours.
 */
#ifndef MAGIC_TRACE_PROCESS_PROCESSES_H
#define MAGIC_TRACE_PROCESS_PROCESSES_H

#include <stdbool.h>
#include <stdint.h>
#include <stddef.h>
#include <sys/types.h>

/* Whether `pid` is `ancestor` or descends from it (through living processes). */
bool process_descends_from(pid_t pid, pid_t ancestor);

/* One letter as in proc(5): 'R' running, 'S' sleeping, 'Z' dead...; 0 when there is no such thread.
 */
char thread_state(pid_t pid, pid_t tid);

/* Nanoseconds that it has run for; 0 when there is no such thread or the kernel does not count them
 * (schedstat, "Scheduler Statistics" of the kernel's documentation). */
uint64_t thread_processor_time(pid_t pid, pid_t tid);
/* Its name as comm has it (prctl PR_SET_NAME), cut to `size`; "" when there is no such process. */
void process_name(pid_t pid, char *name, size_t size);

/* A question about processes. `context` is given to `holds`. */
struct process_test {
    bool (*holds)(pid_t pid, const void *context);
    const void *context;
};

/* Tests. `word`: a string, an argument of the command line or its beginning, up to a comma. */
bool process_has_argument(pid_t pid, const void *word);
/* `path`: a string, of a file that the process has mapped. */
bool process_maps_file(pid_t pid, const void *path);

/* Ends `program` and everything that descends from it by SIGKILL: nothing is left behind, not even
 * what is started meanwhile. Processes that had left the tree before (daemons) are found by
 * `is_ours`. `program` itself is left to be waited for. */
void processes_kill_all(pid_t program, const struct process_test *is_ours);

#endif
