/* The code that JIT compilers wrote into jit-PID.dump, with the times when it was mapped.
 *
 * Used by address_space_build.c. A dump has a clock of its own; here its times are converted to
 * those of the recording.
 */
#ifndef MAGIC_TRACE_IMAGE_JIT_CODE_H
#define MAGIC_TRACE_IMAGE_JIT_CODE_H

#include "base/array.h"
#include "image/file_table.h"

/* A function that lies in memory from `time` on. */
struct jit_code {
    struct nanoseconds time; /* 0: from the beginning */
    uint32_t pid;
    uint64_t start, end;           /* addresses in the process */
    uint64_t file_offset;          /* of its code in `file` */
    const struct image_file *file; /* one per function, which has its name */
};

/* All code of all dumps that processes of `data` mapped: struct jit_code, by time. */
struct array jit_code_find(const struct perf_data *data, struct file_table *files);

#endif
