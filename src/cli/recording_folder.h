/* Where a recording lies while magic-trace works on it: a folder that the user named, or a
 * temporary one.
 *
 * A temporary folder (magic_trace* under $TMPDIR) is removed after its trace was written; it is
 * kept, and named, whenever something failed, so that nothing recorded is lost.
 */
#ifndef MAGIC_TRACE_CLI_RECORDING_FOLDER_H
#define MAGIC_TRACE_CLI_RECORDING_FOLDER_H

#include "base/error.h"

struct recording_folder {
    char *path; /* owned, absolute */
    bool temporary;
};

/* Where temporary folders are made. */
const char *recording_folder_parent(void);

/* Makes the folder `wanted` with its parents, and removes an older recording of ours from it; NULL:
 * makes a temporary one. Other files are never touched: a folder with another program's perf.data
 * is refused. */
bool recording_folder_make(struct recording_folder *folder, const char *wanted,
                           struct error *error);

/* Whether anything was recorded into it. */
bool recording_folder_holds_data(const struct recording_folder *folder);

/* Removes a temporary folder; a named one stays. */
void recording_folder_remove(struct recording_folder *folder);

/* Leaves the folder where it is, frees the path. */
void recording_folder_keep(struct recording_folder *folder);

#endif
