/* Numbers of 0 to 8 bytes, whose size stands elsewhere: read with one load and a mask. */
#ifndef MAGIC_TRACE_INDEX_FILE_PACKED_NUMBER_H
#define MAGIC_TRACE_INDEX_FILE_PACKED_NUMBER_H

#include <stdint.h>
#include <string.h>

/* `size` 1 to 8; 8 bytes can be read. */
static inline uint64_t packed_load(const uint8_t *bytes, unsigned size)
{
    uint64_t word;
    memcpy(&word, bytes, sizeof word);
    return word & (UINT64_MAX >> (64 - 8 * size));
}

/* As above, and 0 for size 0; without a branch, which could not be foreseen. */
static inline uint64_t packed_load_or_none(const uint8_t *bytes, unsigned size)
{
    static const uint64_t MASKS[9] = {0,
                                      UINT64_MAX >> 56,
                                      UINT64_MAX >> 48,
                                      UINT64_MAX >> 40,
                                      UINT64_MAX >> 32,
                                      UINT64_MAX >> 24,
                                      UINT64_MAX >> 16,
                                      UINT64_MAX >> 8,
                                      UINT64_MAX};
    uint64_t word;
    memcpy(&word, bytes, sizeof word);
    return word & MASKS[size];
}

/* Writes 8 bytes, of which the first `size` count. */
static inline uint8_t *packed_store(uint8_t *bytes, unsigned size, uint64_t number)
{
    memcpy(bytes, &number, sizeof number);
    return bytes + size;
}

static inline int packed_fits(unsigned size, uint64_t number)
{
    return size == 8 || number >> (8 * size) == 0;
}

/* Which of four growing sizes is the first that holds `number`; the last holds it in any case. */
static inline unsigned packed_size_code(const uint8_t sizes[4], uint64_t number)
{
    unsigned code = 0;
    while (code < 3 && !packed_fits(sizes[code], number))
        code++;
    return code;
}

#endif
