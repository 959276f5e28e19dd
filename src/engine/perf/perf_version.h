/* The version of perf, and what depends on it.
 *
 * Sources: the history of tools/perf in Linux, and what Jane Street's magic-trace relies on:
 *   5.4   --snapshot=e: the last snapshot at the end, whoever ends perf
 *   5.5   --kcore
 *   5.10  --control with enable, disable and snapshot; ping came later
 *   5.12  --control with stop
 */
#ifndef MAGIC_TRACE_ENGINE_PERF_PERF_VERSION_H
#define MAGIC_TRACE_ENGINE_PERF_PERF_VERSION_H

#include <stdbool.h>

struct perf_version {
    unsigned major, minor;
};

/* From what `perf --version` prints: "perf version 6.1.187", "perf version 5.4.g6c1b0b2". False
 * when it is no version. */
bool perf_version_parse(struct perf_version *version, const char *text);

bool perf_has_exit_snapshot(struct perf_version version);
bool perf_has_kcore(struct perf_version version);
bool perf_has_control(struct perf_version version);
bool perf_has_stop(struct perf_version version);

#endif
