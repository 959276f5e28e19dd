/* Copies the names that a program wrote for its JIT code, /tmp/perf-PID.map, into the recording:
 * DIR/images/perf-PID.map, where symbol/perf_map.h looks first. /tmp is cleared, process numbers
 * are used again, and a recording may be decoded on another machine.
 *
 * Called by collect.c for every traced process.
 */
#ifndef MAGIC_TRACE_ENGINE_PERF_MAP_COPY_H
#define MAGIC_TRACE_ENGINE_PERF_MAP_COPY_H

#include "process/seen_files.h"

#include <stdint.h>

struct perf_map_copy {
    const char *from;              /* folder, /tmp, as the process sees it */
    const struct seen_by *seen_by; /* the process; NULL: it sees our files, and its user is ours */
    const char *directory;         /* of the recording */
    uint32_t pid;                  /* of the process */
    uint32_t recorded_pid;         /* what it is called in the recording */
    /* CLOCK_REALTIME, ns: a file last written before belonged to another process of that number. */
    uint64_t begun;
};

/* There need not be such a file. One that is a link, no regular file, or of another user than the
 * process and root is let alone, as is one that was copied already. */
void perf_map_keep(const struct perf_map_copy *copy);

#endif
