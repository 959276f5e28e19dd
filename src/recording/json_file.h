/* Small JSON files of a recording's folder.
 *
 * Called by session.c and call_values.c. */
#ifndef MAGIC_TRACE_RECORDING_JSON_FILE_H
#define MAGIC_TRACE_RECORDING_JSON_FILE_H

#include "base/error.h"

#include <jansson.h>
#include <stdbool.h>

/* Writes DIRECTORY/NAME, mode 0600; under another name first, so that a full disk never leaves half a file. Takes over
 * `root`. */
bool json_file_write(json_t *root, const char *directory, const char *name, struct error *error);

#endif
