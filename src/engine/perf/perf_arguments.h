/* The command line of `perf record`: a pure function of what is wanted, of the machine and of
 * perf's version.
 *
 * Always attaches to processes by number, never starts one. In the order of Jane Street's magic-trace.
 */
#ifndef MAGIC_TRACE_ENGINE_PERF_PERF_ARGUMENTS_H
#define MAGIC_TRACE_ENGINE_PERF_PERF_ARGUMENTS_H

#include "engine/engine.h"
#include "engine/perf/perf_machine.h"

struct perf_request {
    const struct perf_machine *machine;
    const struct record_options *options;
    const pid_t *pids;
    size_t pid_count;
    const char *output; /* path of perf.data */
    int control, acks;  /* descriptors that perf inherits, where perf_has_control() */
};

/* How the last moments get into perf.data, without -full-execution. */
enum perf_snapshot {
    PERF_SNAPSHOT_NONE,      /* everything is written, as it comes */
    PERF_SNAPSHOT_ON_SIGNAL, /* --snapshot: on SIGUSR2 alone */
    PERF_SNAPSHOT_AT_EXIT,   /* --snapshot=e: when perf ends, too */
    PERF_SNAPSHOT_OVERWRITE, /* of samples: rings that are overwritten, read when perf ends */
};

enum perf_snapshot perf_request_snapshot(const struct perf_request *request);

/* Each snapshot goes into a file of its own, with a number appended to its name. */
bool perf_request_switches_output(const struct perf_request *request);

/* The kernel's code is copied: perf.data is a folder. */
bool perf_request_copies_kernel(const struct perf_request *request);

/* NULL-terminated; to be freed by perf_arguments_free. */
char **perf_arguments(const struct perf_request *request);
void perf_arguments_free(char **arguments);

/* Options that have less effect than the user may expect, as sentences for warnings. */
enum perf_shortcoming {
    PERF_LACKS_CYCLE_PACKETS = 1 << 0,
    PERF_LACKS_KCORE = 1 << 1,
    PERF_LACKS_EXIT_SNAPSHOT = 1 << 2,
    PERF_LACKS_CYCLES = 1 << 3,
    PERF_FOLLOWS_THREADS =
        1 << 4, /* with -follow, the threads that the traced one starts are traced, too */
};

unsigned perf_request_shortcomings(const struct perf_request *request);

#endif
