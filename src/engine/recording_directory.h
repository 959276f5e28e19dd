/* Prepares the recording's folder, which exists, and its images/: code that is in no file, copies
 * of files that may change.
 *
 * Used by all engines.
 */
#ifndef MAGIC_TRACE_ENGINE_RECORDING_DIRECTORY_H
#define MAGIC_TRACE_ENGINE_RECORDING_DIRECTORY_H

#include "base/error.h"

/* Its absolute path: the program may leave the folder that we are in. The caller frees; NULL when
 * it cannot be found. */
char *recording_directory_absolute(const char *directory, struct error *error);

/* The same, and makes images/. */
char *recording_directory_prepare(const char *directory, struct error *error);

/* Frees what recording_directory_prepare returned. What is in images/ stays with a recording, and
 * is removed when there is none. */
void recording_directory_leave(char *directory, bool recorded);

#endif
