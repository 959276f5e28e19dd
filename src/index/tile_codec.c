#include "index/tile_codec.h"

#include "index/packed_number.h"
#include "index/span_codec.h"

static const uint8_t TIME_SIZES[4] = {1, 2, 4, 8};
static const uint8_t FUNCTION_SIZES[4] = {1, 2, 3, 4};

enum piece_kind {
    PIECE_PLAIN,  /* one span that began and returned; nothing follows */
    PIECE_SINGLE, /* one span; a byte follows: flags in bits 0..2, reason of the end in 3..5 */
    PIECE_FEW,    /* follows: the longest, in as many bytes as the extent, and the count in one */
    PIECE_MANY,   /* the same with the count in 4 */
};

enum { KIND_SHIFT = 6, ENDING_SHIFT = 3, DEPTH_APART = UINT8_MAX, FEW = UINT8_MAX };

static enum piece_kind kind_of(const struct piece_item *piece)
{
    if (piece->spans == 1)
        return piece->flags == 0 && piece->ending == 0 ? PIECE_PLAIN : PIECE_SINGLE;
    return piece->spans <= FEW ? PIECE_FEW : PIECE_MANY;
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

uint8_t *piece_encode(uint8_t *bytes, struct piece_coder *coder, const struct piece_item *piece)
{
    uint64_t end = piece->end - coder->end, extent = piece->end - piece->start;
    unsigned end_code = packed_size_code(TIME_SIZES, end);
    unsigned extent_code = packed_size_code(TIME_SIZES, extent);
    unsigned function_code = packed_size_code(FUNCTION_SIZES, piece->function);
    enum piece_kind kind = kind_of(piece);
    uint32_t depth = fold(piece->depth - coder->depth);
    bool apart = depth >= DEPTH_APART;
    *bytes++ = (uint8_t)(end_code | extent_code << 2 | function_code << 4 | kind << KIND_SHIFT);
    *bytes++ = (uint8_t)(apart ? DEPTH_APART : depth);
    bytes = packed_store(bytes, TIME_SIZES[end_code], end);
    bytes = packed_store(bytes, TIME_SIZES[extent_code], extent);
    bytes = packed_store(bytes, FUNCTION_SIZES[function_code], piece->function);
    if (kind == PIECE_SINGLE)
        *bytes++ = (uint8_t)(piece->flags | piece->ending << ENDING_SHIFT);
    if (kind == PIECE_FEW || kind == PIECE_MANY) {
        bytes = packed_store(bytes, TIME_SIZES[extent_code], piece->longest);
        bytes = packed_store(bytes, kind == PIECE_FEW ? 1 : 4, piece->spans);
    }
    if (apart)
        bytes = packed_store(bytes, 4, piece->depth);
    coder->end = piece->end;
    coder->depth = piece->depth;
    return bytes;
}

static const uint8_t *decode_kind(const uint8_t *bytes, enum piece_kind kind, unsigned extent_size,
                                  struct piece_item *piece)
{
    piece->spans = 1;
    piece->longest = piece->end - piece->start;
    if (kind == PIECE_SINGLE) {
        piece->flags = *bytes & 7;
        piece->ending = *bytes >> ENDING_SHIFT & 7;
        return bytes + 1;
    }
    if (kind == PIECE_PLAIN)
        return bytes;
    piece->longest = packed_load(bytes, extent_size);
    bytes += extent_size;
    unsigned count_size = kind == PIECE_FEW ? 1 : 4;
    piece->spans = (uint32_t)packed_load(bytes, count_size);
    return bytes + count_size;
}

static const uint8_t *decode_piece(const uint8_t *bytes, uint64_t end_before, uint32_t depth_before,
                                   struct piece_item *piece)
{
    uint8_t control = *bytes++, depth = *bytes++;
    unsigned size = TIME_SIZES[control & 3];
    *piece = (struct piece_item){.end = end_before + packed_load(bytes, size)};
    bytes += size;
    unsigned extent_size = TIME_SIZES[control >> 2 & 3];
    piece->start = piece->end - packed_load(bytes, extent_size);
    bytes += extent_size;
    size = FUNCTION_SIZES[control >> 4 & 3];
    piece->function = (uint32_t)packed_load(bytes, size);
    bytes = decode_kind(bytes + size, control >> KIND_SHIFT, extent_size, piece);
    piece->depth = depth_before + unfold(depth);
    if (depth == DEPTH_APART) {
        piece->depth = (uint32_t)packed_load(bytes, 4);
        bytes += 4;
    }
    return bytes;
}

static bool is_possible(const struct piece_item *piece, const struct span_limits *limits)
{
    return piece->end <= limits->last_end && piece->start <= piece->end &&
           piece->longest <= piece->end - piece->start && piece->spans > 0 &&
           piece->function < limits->functions && piece->depth < limits->depths;
}

bool piece_decode_chunk(const uint8_t *bytes, const struct index_chunk *chunk,
                        const struct span_limits *limits, struct piece_item *pieces)
{
    const uint8_t *limit = bytes + chunk->size;
    uint64_t end = chunk->first_end;
    uint32_t depth = 0;
    for (uint32_t i = 0; i < chunk->count; i++) {
        if (bytes >= limit)
            return false;
        bytes = decode_piece(bytes, end, depth, &pieces[i]);
        /* A distance that overflows would go back in time. */
        if (pieces[i].end < end || !is_possible(&pieces[i], limits))
            return false;
        end = pieces[i].end;
        depth = pieces[i].depth;
    }
    return bytes == limit && end == limits->last_end;
}
