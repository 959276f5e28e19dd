#include "index/file/bucket_codec.h"

#include "index/file/packed_number.h"

#include <stddef.h>

static const uint8_t DISTANCE_SIZES[4] = {1, 2, 3, 4};
static const uint8_t CALLS_SIZES[4] = {1, 2, 3, 8};

uint8_t *bucket_count_encode(uint8_t *bytes, const struct bucket_count *before,
                             const struct bucket_count *count)
{
    uint32_t distance = count->function - before->function;
    unsigned distance_code = packed_size_code(DISTANCE_SIZES, distance);
    unsigned calls_code = packed_size_code(CALLS_SIZES, count->calls);
    *bytes++ = (uint8_t)(distance_code | calls_code << 2);
    bytes = packed_store(bytes, DISTANCE_SIZES[distance_code], distance);
    return packed_store(bytes, CALLS_SIZES[calls_code], count->calls);
}

const uint8_t *bucket_count_decode(const uint8_t *bytes, const uint8_t *limit, uint32_t functions,
                                   struct bucket_count *count)
{
    uint8_t control = *bytes++;
    unsigned distance_size = DISTANCE_SIZES[control & 3];
    unsigned calls_size = CALLS_SIZES[control >> 2 & 3];
    uint64_t distance = packed_load(bytes, distance_size);
    uint64_t function = (uint64_t)(uint32_t)(count->function + 1) + distance - 1;
    count->calls = packed_load(bytes + distance_size, calls_size);
    count->function = (uint32_t)function;
    bytes += distance_size + calls_size;
    return distance > 0 && function < functions && bytes <= limit ? bytes : NULL;
}
