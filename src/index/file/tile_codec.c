#include "index/file/tile_codec.h"

#include "index/file/packed_number.h"
#include "index/file/span_codec.h"

static const uint8_t TIME_SIZES[4] = {1, 2, 4, 8};
static const uint8_t FUNCTION_SIZES[4] = {1, 2, 3, 4};

enum tile_kind {
    TILE_PLAIN,  /* one span that began and returned; nothing follows */
    TILE_SINGLE, /* one span; a byte follows: flags in bits 0..2, reason of the end in 3..5 */
    TILE_FEW,    /* follows: the longest, in as many bytes as the extent, and the count in one */
    TILE_MANY,   /* the same with the count in 4 */
};

enum { KIND_SHIFT = 6, ENDING_SHIFT = 3, DEPTH_APART = UINT8_MAX, FEW = UINT8_MAX };

static enum tile_kind kind_of(const struct tile_item *tile)
{
    if (tile->spans == 1)
        return tile->flags == 0 && tile->ending == 0 ? TILE_PLAIN : TILE_SINGLE;
    return tile->spans <= FEW ? TILE_FEW : TILE_MANY;
}

/* 0, -1, +1, -2, ... as 0, 1, 2, 3, ... */
static uint32_t fold(uint32_t difference)
{
    return difference << 1 ^ (uint32_t)((int32_t)difference >> 31);
}

static uint32_t unfold(uint32_t folded)
{
    return folded >> 1 ^ (0 - (folded & 1));
}

uint8_t *tile_encode(uint8_t *bytes, struct tile_coder *coder, const struct tile_item *tile)
{
    uint64_t end = tile->end - coder->end, extent = tile->end - tile->start;
    unsigned end_code = packed_size_code(TIME_SIZES, end);
    unsigned extent_code = packed_size_code(TIME_SIZES, extent);
    unsigned function_code = packed_size_code(FUNCTION_SIZES, tile->function);
    enum tile_kind kind = kind_of(tile);
    uint32_t depth = fold(tile->depth - coder->depth);
    bool apart = depth >= DEPTH_APART;
    *bytes++ = (uint8_t)(end_code | extent_code << 2 | function_code << 4 | kind << KIND_SHIFT);
    *bytes++ = (uint8_t)(apart ? DEPTH_APART : depth);
    bytes = packed_store(bytes, TIME_SIZES[end_code], end);
    bytes = packed_store(bytes, TIME_SIZES[extent_code], extent);
    bytes = packed_store(bytes, FUNCTION_SIZES[function_code], tile->function);
    if (kind == TILE_SINGLE)
        *bytes++ = (uint8_t)(tile->flags | tile->ending << ENDING_SHIFT);
    if (kind == TILE_FEW || kind == TILE_MANY) {
        bytes = packed_store(bytes, TIME_SIZES[extent_code], tile->longest);
        bytes = packed_store(bytes, kind == TILE_FEW ? 1 : 4, tile->spans);
    }
    if (apart)
        bytes = packed_store(bytes, 4, tile->depth);
    coder->end = tile->end;
    coder->depth = tile->depth;
    return bytes;
}

static const uint8_t *decode_kind(const uint8_t *bytes, enum tile_kind kind, unsigned extent_size,
                                  struct tile_item *tile)
{
    tile->spans = 1;
    tile->longest = tile->end - tile->start;
    if (kind == TILE_SINGLE) {
        tile->flags = *bytes & 7;
        tile->ending = *bytes >> ENDING_SHIFT & 7;
        return bytes + 1;
    }
    if (kind == TILE_PLAIN)
        return bytes;
    tile->longest = packed_load(bytes, extent_size);
    bytes += extent_size;
    unsigned count_size = kind == TILE_FEW ? 1 : 4;
    tile->spans = (uint32_t)packed_load(bytes, count_size);
    return bytes + count_size;
}

static const uint8_t *decode_tile(const uint8_t *bytes, uint64_t end_before, uint32_t depth_before,
                                  struct tile_item *tile)
{
    uint8_t control = *bytes++, depth = *bytes++;
    unsigned size = TIME_SIZES[control & 3];
    *tile = (struct tile_item){.end = end_before + packed_load(bytes, size)};
    bytes += size;
    unsigned extent_size = TIME_SIZES[control >> 2 & 3];
    tile->start = tile->end - packed_load(bytes, extent_size);
    bytes += extent_size;
    size = FUNCTION_SIZES[control >> 4 & 3];
    tile->function = (uint32_t)packed_load(bytes, size);
    bytes = decode_kind(bytes + size, control >> KIND_SHIFT, extent_size, tile);
    tile->depth = depth_before + unfold(depth);
    if (depth == DEPTH_APART) {
        tile->depth = (uint32_t)packed_load(bytes, 4);
        bytes += 4;
    }
    return bytes;
}

static bool is_possible(const struct tile_item *tile, const struct span_limits *limits)
{
    return tile->end <= limits->last_end && tile->start <= tile->end &&
           tile->longest <= tile->end - tile->start && tile->spans > 0 &&
           tile->function < limits->functions && tile->depth < limits->depths;
}

bool tile_decode_chunk(const uint8_t *bytes, const struct index_chunk *chunk,
                       const struct span_limits *limits, struct tile_item *tiles)
{
    const uint8_t *limit = bytes + chunk->size;
    uint64_t end = chunk->first_end;
    uint32_t depth = 0;
    for (uint32_t i = 0; i < chunk->count; i++) {
        if (bytes >= limit)
            return false;
        bytes = decode_tile(bytes, end, depth, &tiles[i]);
        /* A distance that overflows would go back in time. */
        if (tiles[i].end < end || !is_possible(&tiles[i], limits))
            return false;
        end = tiles[i].end;
        depth = tiles[i].depth;
    }
    return bytes == limit && end == limits->last_end;
}
