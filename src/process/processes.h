/* Processes as /proc shows them: their ancestry, and which of them belong to the recording. */
#ifndef MAGIC_TRACE_PROCESS_PROCESSES_H
#define MAGIC_TRACE_PROCESS_PROCESSES_H

#include "base/array.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Whether `pid` is `ancestor` or descends from it (through living processes). */
bool process_descends_from(pid_t pid, pid_t ancestor);

/* One letter as in proc(5): 'R' running, 'S' sleeping, 'Z' dead...; 0 when there is no such thread.
 */
char thread_state(pid_t pid, pid_t tid);

/* The processor time that it has used, in nanoseconds; 0 when there is no such thread or the kernel
 * does not count it (schedstat, "Scheduler Statistics" of the kernel's documentation). */
uint64_t thread_processor_time(pid_t pid, pid_t tid);
/* Its name as comm has it (prctl PR_SET_NAME), cut to `size`; "" when there is no such process. */
void process_name(pid_t pid, char *name, size_t size);

/* The number after `key`, as "\nTgid:\t", in /proc/PID/status, in `base`; of a thread, too. 0: there is no such process or line. */
uint64_t process_status_number(pid_t pid, const char *key, int base);

/* The number that the process or thread itself knows, which getpid or gettid returns there: that of its innermost pid namespace. 0: there
 * is no such thread. */
pid_t process_number_within(pid_t tid);

/* Whether both are in one pid namespace, as far as we may look. */
bool process_namespaces_are_same(pid_t pid, pid_t other);

/* Whether both have one memory, as a child made by vfork has its parent's (kcmp(2)); false where the kernel does not say. */
bool process_memory_is_same(pid_t pid, pid_t other);

/* The user as whom it opens files (its filesystem user: credentials(7)). False: there is no such process. */
bool process_user(pid_t pid, uid_t *user);

/* What the kernel gave it in its auxiliary vector as `type` (getauxval(3)); 0: nothing, or it cannot be read. */
uint64_t process_auxiliary(pid_t pid, uint64_t type);

/* The file that a process executes; the caller frees. NULL and errno: there is no such process, or we may not see it. */
char *process_executable(pid_t pid);

/* A predicate on processes. `context` is passed to `holds`. */
struct process_test {
    bool (*holds)(pid_t pid, const void *context);
    const void *context;
};

/* A file by which /proc/PID/maps can be searched, also when it was renamed or removed meanwhile. */
struct mapped_file {
    uint32_t device_major, device_minor;
    uint64_t inode; /* 0: no file */
};

/* The one that we have mapped at that address; no file where /proc does not say. */
struct mapped_file mapped_file_at(const void *address);

/* Whether nothing of the process lies in [start, end). False also when it cannot be read. */
bool process_maps_nothing(pid_t pid, uint64_t start, uint64_t end);

/* Tests. `word`: a string, an argument of the command line or its beginning, up to a comma. */
bool process_has_argument(pid_t pid, const void *word);
/* `file`: a struct mapped_file. */
bool process_maps_file(pid_t pid, const void *file);

/* Whether one of its descriptors is shown by /proc/PID/fd as `link`. False also where we may not look. */
bool process_has_descriptor(pid_t pid, const char *link);

/* Adds the living processes that pass, but for ourselves, to `pids` (of pid_t). */
void processes_find(struct array *pids, const struct process_test *test);

/* Kills `program` and all its descendants by SIGKILL, including those that are started meanwhile.
 * `is_ours` finds processes that had left the tree before (daemons). The caller waits for `program`
 * itself. */
void processes_kill_all(pid_t program, const struct process_test *is_ours);

#endif
