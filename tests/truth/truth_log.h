/* One thread's truth log in one program, mapped for reading (truth_format.h).
 *
 * Used by truth_walk. What a file holds is believed, but ids are checked: the logs of a killed
 * program may end anywhere.
 */
#ifndef MAGIC_TRACE_TESTS_TRUTH_LOG_H
#define MAGIC_TRACE_TESTS_TRUTH_LOG_H

#include "truth_format.h"

#include <stdbool.h>
#include <stddef.h>

struct truth_file {
    const struct truth_header *header; /* owned mapping; NULL: not open */
    size_t size;
    uint64_t count; /* entries in use */
};

struct truth_log {
    struct truth_file record_file, block_file;
    const struct truth_record *records;
    const struct truth_block *blocks; /* of id 1 at index 0 */
    uint64_t record_count, block_count;
};

/* The `generation`-th program that the thread ran; false when there is none. */
bool truth_log_open(struct truth_log *log, const char *directory, uint32_t pid, uint32_t tid,
                    uint32_t generation);
void truth_log_close(struct truth_log *log);

#endif
