/* A file that a process in a container or chroot has mapped, copied into the recording: what has its path here is another file.
 *
 * Used by running_process.c for what is mapped when a recording begins.
 */
#ifndef MAGIC_TRACE_PERF_EVENT_FOREIGN_FILE_H
#define MAGIC_TRACE_PERF_EVENT_FOREIGN_FILE_H

#include "process/process_files.h"

/* `path` as /proc/PID/maps has it, `mapped`: its inode and device there. NULL when the file is the one that we have at that path, or is
 * treated as it, since `files` are ours. Else the path of the copy, DIR/images/file-DEVICE-INODE/PATH, also where none could be made: then no file
 * has that path, and none is taken for it. The caller frees. */
char *foreign_file_keep(const struct process_files *files, const char *directory, const char *path,
                        const struct stat *mapped);

#endif
