/* A recording on disk, as the user names it: a folder that an engine filled, or one perf.data file
 * of any recorder.
 *
 * Called by decode/ when a recording is decoded, after the engines have completed what a killed
 * magic-trace left in the folder (engine.h, salvage). A folder holds perf.data, then perf.data.1,
 * perf.data.2 ..., one per snapshot. One by perf record --kcore or --threads holds `data`.
 */
#ifndef MAGIC_TRACE_RECORDING_RECORDING_H
#define MAGIC_TRACE_RECORDING_RECORDING_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>

struct recording {
    char *directory; /* holds session.json, images/ or perf's kcore_dir/; NULL for a file that has
                        none of them beside it */
    char **files; /* paths of the perf.data files, in the order of their snapshots; at least one */
    size_t file_count;
};

/* Whether a file called `name` in a recording's folder is a perf.data file of it (perf.data and
 * perf.data.NUMBER; not perf.data.old, which perf record or the user made). */
bool recording_is_data_name(const char *name);

/* False when there is no such file or folder, or no perf.data in it. */
bool recording_open(struct recording *recording, const char *path, struct error *error);
void recording_close(struct recording *recording);

#endif
