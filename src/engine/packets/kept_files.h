/* The copies of program files in DIR/images (kept_file.h), seen by the recorder when it writes the recording. */
#ifndef MAGIC_TRACE_ENGINE_PACKETS_KEPT_FILES_H
#define MAGIC_TRACE_ENGINE_PACKETS_KEPT_FILES_H

#include <stdint.h>

/* The path to record for a mapping of `version` of the file at `path`: the file itself, while it is
 * still that version, else the copy, so that every reader of the recording finds the code that ran.
 * NULL means `path` itself, also when there is no copy; the caller frees. */
char *kept_files_path(const char *directory, const char *path, uint64_t version);

/* Of a file that is not ours, whatever is at `path` here: the copy, also where it is missing because it could not be made (`version` 0), so
 * that readers find no other file. The caller frees. */
char *kept_files_foreign_path(const char *directory, const char *path, uint64_t version);

#endif
