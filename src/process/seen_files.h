/* Which files the traced processes see, for those that have another root directory or other mounts than we do, and as which users
 * they make files.
 *
 * Filled by the translator's recorder when it attaches to a process, and when a process executes a program; used to keep their files and
 * their perf-PID.map (kept_mappings.h, collect.h).
 */
#ifndef MAGIC_TRACE_PROCESS_SEEN_FILES_H
#define MAGIC_TRACE_PROCESS_SEEN_FILES_H

#include "base/array.h"
#include "process/process_files.h"

#include <stddef.h>
#include <stdint.h>

struct seen_by {
    uint32_t pid; /* first: the key; as the recording has it */
    bool foreign; /* it sees other files than we do */
    bool has_user;
    uid_t user;
    struct process_files files; /* borrowed from `held`; -1, -1 for those that see our files */
};

struct seen_files {
    struct array processes; /* of struct seen_by, by pid */
    struct array held;      /* private: of what is held, each once */
};

struct seen_files seen_files_begin(void);
void seen_files_free(struct seen_files *seen);

/* `pid` is the process's number here, and it lives. What was known of `number` is replaced. */
void seen_files_add(struct seen_files *seen, uint32_t number, pid_t pid);

/* A process that we know only to see other files: it cannot be looked into any more. Ignored if it is known. */
void seen_files_add_unreachable(struct seen_files *seen, uint32_t number);

/* A child sees what its parent sees. Ignored if it is known. */
void seen_files_add_child(struct seen_files *seen, uint32_t number, uint32_t parent);

/* NULL: it is not known. Valid until the next is added. */
const struct seen_by *seen_files_of(const struct seen_files *seen, uint32_t number);

#endif
