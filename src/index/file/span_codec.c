#include "index/file/span_codec.h"

#include "index/file/packed_number.h"

static const uint8_t END_SIZES[4] = {0, 1, 2, 8};
static const uint8_t LENGTH_SIZES[4] = {1, 2, 4, 8};
static const uint8_t FUNCTION_SIZES[4] = {1, 2, 3, 4};

/* Bits 6..7 of the two control bytes hold the depth: a step minus one, or DEPTH_APART. */
enum { DEPTH_APART = 3, FLAG_BITS = 7, ENDING_SHIFT = 3, ENDING_BITS = 7, DEPTH_SHIFT = 6 };

static unsigned depth_code(uint32_t depth, uint32_t before)
{
    uint32_t step = depth + 1 - before;
    return step < DEPTH_APART ? step : DEPTH_APART;
}

uint8_t *span_encode(uint8_t *bytes, struct span_coder *coder, const struct index_span *span)
{
    uint64_t end = span->end - coder->end, length = span->end - span->start;
    unsigned end_code = packed_size_code(END_SIZES, end);
    unsigned length_code = packed_size_code(LENGTH_SIZES, length);
    unsigned function_code = packed_size_code(FUNCTION_SIZES, span->function);
    unsigned depth = depth_code(span->depth, coder->depth);
    bool plain = span->flags == 0 && span->ending == 0 && depth != DEPTH_APART;
    *bytes++ = (uint8_t)(end_code | length_code << 2 | function_code << 4 |
                         (plain ? depth : DEPTH_APART) << DEPTH_SHIFT);
    bytes = packed_store(bytes, END_SIZES[end_code], end);
    bytes = packed_store(bytes, LENGTH_SIZES[length_code], length);
    bytes = packed_store(bytes, FUNCTION_SIZES[function_code], span->function);
    if (!plain) {
        *bytes++ = (uint8_t)(span->flags | span->ending << ENDING_SHIFT | depth << DEPTH_SHIFT);
        if (depth == DEPTH_APART)
            bytes = packed_store(bytes, 4, span->depth);
    }
    coder->end = span->end;
    coder->depth = span->depth;
    return bytes;
}

/* The rare rest of a span that is not plain. */
static const uint8_t *decode_rest(const uint8_t *bytes, uint32_t before, struct index_span *span)
{
    uint8_t rest = *bytes++;
    span->flags = rest & FLAG_BITS;
    span->ending = rest >> ENDING_SHIFT & ENDING_BITS;
    unsigned depth = rest >> DEPTH_SHIFT;
    span->depth = before + depth - 1;
    if (depth == DEPTH_APART) {
        span->depth = (uint32_t)packed_load(bytes, 4);
        bytes += 4;
    }
    return bytes;
}

/* Bytes of a span up to its function, by the lower 6 bits of the control byte. The beginning of the
 * next span must be known early, because everything else waits for it. */
#define SPAN_SIZE(end, length, function) (1 + (end) + (length) + (function))
#define SPAN_SIZES_BY_END(length, function)                                                        \
    SPAN_SIZE(0, length, function), SPAN_SIZE(1, length, function),                                \
        SPAN_SIZE(2, length, function), SPAN_SIZE(8, length, function)
#define SPAN_SIZES_BY_LENGTH(function)                                                             \
    SPAN_SIZES_BY_END(1, function), SPAN_SIZES_BY_END(2, function),                                \
        SPAN_SIZES_BY_END(4, function), SPAN_SIZES_BY_END(8, function)
static const uint8_t SPAN_SIZES[64] = {SPAN_SIZES_BY_LENGTH(1), SPAN_SIZES_BY_LENGTH(2),
                                       SPAN_SIZES_BY_LENGTH(3), SPAN_SIZES_BY_LENGTH(4)};

bool span_decode_chunk(const uint8_t *bytes, const struct index_chunk *chunk,
                       const struct span_limits *limits, struct index_span *spans)
{
    const uint8_t *limit = bytes + chunk->size;
    uint64_t end = chunk->first_end;
    uint32_t depth = 0;
    for (uint32_t i = 0; i < chunk->count; i++) {
        if (bytes >= limit)
            return false;
        uint8_t control = *bytes;
        const uint8_t *field = bytes + 1;
        bytes += SPAN_SIZES[control & 63];
        unsigned size = END_SIZES[control & 3];
        uint64_t distance = packed_load_or_none(field, size);
        end += distance;
        field += size;
        size = LENGTH_SIZES[control >> 2 & 3];
        uint64_t length = packed_load(field, size);
        field += size;
        uint32_t function = (uint32_t)packed_load(field, FUNCTION_SIZES[control >> 4 & 3]);
        struct index_span *span = &spans[i];
        *span = (struct index_span){.start = end - length, .end = end, .function = function};
        unsigned step = control >> DEPTH_SHIFT;
        span->depth = depth + step - 1;
        if (step == DEPTH_APART)
            bytes = decode_rest(bytes, depth, span);
        depth = span->depth;
        if (distance > limits->last_end || end > limits->last_end || length > end ||
            function >= limits->functions || depth >= limits->depths)
            return false;
    }
    return bytes == limit && end == limits->last_end;
}
