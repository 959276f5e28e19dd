/* Tiles of a level of detail as bytes: 7 to 10 each.
 *
 * Tiles come in the order of their ends; their depths jump. A control byte holds the sizes:
 *
 *     bits 0..1  bytes of the end's distance to the end before: 1, 2, 4, 8
 *     bits 2..3  bytes of the extent: 1, 2, 4, 8
 *     bits 4..5  bytes of the function: 1, 2, 3, 4
 *     bits 6..7  enum tile_kind: the fields after the function
 *
 * The last byte is the depth, relative to that of the tile before and zigzag-encoded (0, -1, +1,
 * -2, ...); or it is 255, and the absolute depth follows in 4 bytes.
 *
 * Called by levels_of_detail.c and trace_index.c.
 */
#ifndef MAGIC_TRACE_INDEX_FILE_TILE_CODEC_H
#define MAGIC_TRACE_INDEX_FILE_TILE_CODEC_H

#include "index/file/index_format.h"

#include <stdbool.h>

/* One span, or several of one depth that are shorter than a resolution and begin in one of its
 * bins. Where there is no such bin (yet), every span is a tile. */
struct tile_item {
    uint64_t start, end;
    uint64_t longest; /* ns, of its longest span; of one span: its length */
    uint32_t depth;
    uint32_t function;     /* of the longest, of equals of the first */
    uint32_t spans;        /* UINT32_MAX: that many or more */
    uint8_t flags, ending; /* of a single span; else 0 */
};

enum { TILE_BYTES_MAX = 1 + 1 + 8 + 8 + 4 + 8 + 4 + 4 };
_Static_assert((int)TILE_BYTES_MAX <= (int)INDEX_PADDING, "reading ahead stays in the file");

/* The tile before, to which the tiles of a chunk are relative, as struct span_coder. */
struct tile_coder {
    uint64_t end;
    uint32_t depth;
};

uint8_t *tile_encode(uint8_t *bytes, struct tile_coder *coder, const struct tile_item *tile);

struct span_limits;

/* As span_decode_chunk(). */
bool tile_decode_chunk(const uint8_t *bytes, const struct index_chunk *chunk,
                       const struct span_limits *limits, struct tile_item *tiles);

#endif
