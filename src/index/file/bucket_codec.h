/* The counts of a bucket (index_format.h) as bytes: 3 for most functions.
 *
 * Functions come in the order of their ids. A control byte holds the sizes of the two numbers that follow:
 *
 *     bits 0..1  bytes of the id's distance to the id before, from 1: 1, 2, 3, 4
 *     bits 2..3  bytes of the number of calls: 1, 2, 3, 8
 *
 * Called by bucket_recorder.c and call_buckets.c.
 */
#ifndef MAGIC_TRACE_INDEX_FILE_BUCKET_CODEC_H
#define MAGIC_TRACE_INDEX_FILE_BUCKET_CODEC_H

#include "index/file/index_format.h"

#include <stdbool.h>

enum { BUCKET_COUNT_BYTES_MAX = 1 + 4 + 8 + 8 /* packed_store() writes 8 bytes at once */ };
_Static_assert((int)BUCKET_COUNT_BYTES_MAX <= (int)INDEX_PADDING,
               "reading ahead stays in the file");

/* `function` is at first the id one below the first, UINT32_MAX. */
struct bucket_count {
    uint32_t function;
    uint64_t calls;
};

#define BUCKET_COUNT_BEFORE_FIRST ((struct bucket_count){.function = UINT32_MAX})

/* Writes what follows `before` to `bytes`, which has room for BUCKET_COUNT_BYTES_MAX; gives where it ends. */
uint8_t *bucket_count_encode(uint8_t *bytes, const struct bucket_count *before,
                             const struct bucket_count *count);

/* Reads what follows *count into it; `functions`: how many the index has. INDEX_PADDING bytes after `limit` must be
 * readable. NULL when it is damaged. */
const uint8_t *bucket_count_decode(const uint8_t *bytes, const uint8_t *limit, uint32_t functions,
                                   struct bucket_count *count);

#endif
