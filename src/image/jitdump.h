/* The file in which a JIT compiler describes its code for perf: jit-PID.dump.
 *
 * jit_code.c reads it when a process has mapped one. Format:
 * tools/perf/Documentation/jitdump-specification.txt of Linux. Reading ends at the first damage;
 * the records before it are used.
 */
#ifndef MAGIC_TRACE_IMAGE_JITDUMP_H
#define MAGIC_TRACE_IMAGE_JITDUMP_H

#include "base/array.h"
#include "base/file.h"

#include <stdbool.h>
#include <stdint.h>

/* From `time` on, a function lies at `address`. */
struct jitdump_code {
    uint64_t time; /* nanoseconds of CLOCK_MONOTONIC, or ticks */
    uint64_t address;
    uint64_t size;
    uint64_t file_offset; /* of its code in the dump; all of it is there */
    const char *name;     /* in the dump */
};

struct jitdump {
    bool times_are_ticks; /* of the processor's time-stamp counter */
    uint64_t begun;       /* when the dump was made, in the same time */
    struct array codes;   /* struct jitdump_code, in the file's order */
};

/* Whether a file of this name is one. */
bool jitdump_is_name(const char *path);

/* False when `view` is no such file, or is for another processor: then nothing needs to be freed.
 */
bool jitdump_read(struct jitdump *dump, const struct file_view *view);
void jitdump_free(struct jitdump *dump);

#endif
