#include "base/base64.h"

#include "base/memory.h"

#include <stdint.h>

static const char ALPHABET[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

char *base64_encode(const void *bytes, size_t size)
{
    const uint8_t *from = bytes;
    char *text = memory_allocate((size + 2) / 3 * 4 + 1), *next = text;
    for (; size > 0; from += 3) {
        size_t count = size < 3 ? size : 3;
        uint32_t group = (uint32_t)from[0] << 16;
        group |= count > 1 ? (uint32_t)from[1] << 8 : 0;
        group |= count > 2 ? from[2] : 0;
        for (size_t i = 0; i < 4; i++)
            *next++ = i <= count ? ALPHABET[group >> (18 - 6 * i) & 63] : '=';
        size -= count;
    }
    *next = 0;
    return text;
}
