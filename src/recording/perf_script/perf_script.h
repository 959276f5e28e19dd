/* Stock perf as a decoder: finds it, asks what it can do, and runs `perf script` on a recording.
 *
 * Called by decode/. From Linux 5.14 on perf can load our filter (dlfilter/), and what it decodes
 * comes as a stream of branches (branch_stream.h); older ones print text (perf_text.h).
 */
#ifndef MAGIC_TRACE_RECORDING_PERF_SCRIPT_PERF_SCRIPT_H
#define MAGIC_TRACE_RECORDING_PERF_SCRIPT_PERF_SCRIPT_H

#include "base/error.h"

#include <stdbool.h>
#include <sys/types.h>

struct perf_tool {
    char *path;   /* of perf, as found in PATH; owned */
    char *filter; /* our filter's path; owned. NULL: this perf cannot load filters */
};

/* False when there is no perf, or it cannot run, or our filter is not installed. */
bool perf_tool_find(struct perf_tool *tool, struct error *error);
void perf_tool_free(struct perf_tool *tool);

struct perf_script_request {
    const struct perf_tool *tool;
    const char *data;   /* path of perf.data */
    const char *images; /* a folder in which perf finds all object files below their recorded paths;
                           NULL: at their paths */
};

struct perf_script {
    char *data; /* owned; for messages */
    pid_t pid;  /* 0: it has ended */
    int output; /* a pipe: the stream of branches, or text. Closed by perf_script_finish */
    int messages;
};

bool perf_script_start(struct perf_script *script, const struct perf_script_request *request,
                       struct error *error);

/* Waits until perf has ended; false, with perf's message, when it failed. Call it at the end of
 * `output`, or to stop reading early, which ends perf too. */
bool perf_script_finish(struct perf_script *script, struct error *error);

#endif
