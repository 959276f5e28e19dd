/* Spans of a chunk as bytes: 4 to 6 for most.
 *
 * Spans come in post-order, so depths change by one and ends only grow. A control byte holds the
 * sizes of the following fields, which are read by masks rather than byte by byte:
 *
 *     bits 0..1  bytes of the end's distance to the end before: 0, 1, 2, 8
 *     bits 2..3  bytes of the length: 1, 2, 4, 8
 *     bits 4..5  bytes of the function: 1, 2, 3, 4
 *     bits 6..7  depth against the span before: -1, 0, +1; or 3: a byte follows with the flags
 *                (bits 0..2), the reason of the end (3..5) and the depth (6..7, as here, or 3: it
 *                follows, absolute, in 4 bytes)
 *
 * Called by track_builder.c and trace_index.c.
 */
#ifndef MAGIC_TRACE_INDEX_FILE_SPAN_CODEC_H
#define MAGIC_TRACE_INDEX_FILE_SPAN_CODEC_H

#include "index/file/index_format.h"
#include "index/file/index_items.h"

enum { SPAN_BYTES_MAX = 1 + 8 + 8 + 4 + 1 + 4 };
_Static_assert((int)SPAN_BYTES_MAX <= (int)INDEX_PADDING, "reading ahead stays in the file");

/* The span before, to which the spans of a chunk are relative; at first its first end and depth 0.
 */
struct span_coder {
    uint64_t end;
    uint32_t depth;
};

/* Writes `span` to `bytes`, which has room for SPAN_BYTES_MAX; gives where it ends. The span's end
 * is not less than that of the one before. */
uint8_t *span_encode(uint8_t *bytes, struct span_coder *coder, const struct index_span *span);

/* What a span may be. */
struct span_limits {
    uint64_t last_end; /* of the chunk: its last span's */
    uint32_t functions;
    uint32_t depths;
};

/* Reads all spans of a chunk into `spans`, which has room for chunk->count. INDEX_PADDING bytes
 * after `bytes` must be readable. False when they contradict the chunk's directory entry, or exceed
 * the limits. */
bool span_decode_chunk(const uint8_t *bytes, const struct index_chunk *chunk,
                       const struct span_limits *limits, struct index_span *spans);

#endif
