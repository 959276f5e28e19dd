/* The files of a process that has another root directory or other mounts than we do, as in a container or a chroot: what is
 * at one of its paths may be at no path of ours, and our file of that path is another one.
 *
 * Used by the engines' recorders and to find triggers. Looking into such a process needs the right to trace it.
 *
 * Sources: proc(5) on /proc/PID/root and maps, openat2(2), mount_namespaces(7).
 */
#ifndef MAGIC_TRACE_PROCESS_PROCESS_FILES_H
#define MAGIC_TRACE_PROCESS_PROCESS_FILES_H

#include <stdbool.h>
#include <sys/stat.h>
#include <sys/types.h>

/* What it sees, held: it can be looked at after the end of the process, and of its container. */
struct process_files {
    int root; /* descriptor of its root directory; -1: it sees what we see, or what it sees is not known */
    int mounts; /* of its mount namespace, which keeps what is mapped below the root; -1: none */
};

/* Whether its paths are ours: it has our root directory and our mounts. Also when that cannot be found out. */
bool process_files_are_ours(pid_t pid);

/* For process_files_release, in any case. */
struct process_files process_files_hold(pid_t pid);
void process_files_release(struct process_files *files);

/* Opens a regular file below its root directory for reading, close-on-exec. `path` is absolute, as the process sees it, and without
 * symbolic links. -1: there is no such file, or Linux is older than 5.6. */
int process_files_open(const struct process_files *files, const char *path);

/* A path of ours, while the process lives, to the file that it has mapped: where /proc/PID/maps or /proc/PID/exe says `path`, and its
 * inode and device are those of `mapped`. The caller frees. It begins with /proc/PID/root when `path` is not ours. */
char *process_file_path(pid_t pid, const char *path, const struct stat *mapped);

/* `path` without that beginning. */
const char *process_file_path_within(const char *path);

/* What realpath gives; paths made by process_file_path stay. The caller frees. */
char *process_file_real_path(const char *path);

#endif
