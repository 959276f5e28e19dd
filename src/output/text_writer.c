#include "output/text_writer.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

void text_put_bytes(struct block_writer *out, const void *bytes, size_t size)
{
    const char *next = bytes;
    for (; size > BLOCK_WRITER_RESERVE_MAX; size -= BLOCK_WRITER_RESERVE_MAX) {
        memcpy(block_writer_reserve(out, BLOCK_WRITER_RESERVE_MAX), next, BLOCK_WRITER_RESERVE_MAX);
        next += BLOCK_WRITER_RESERVE_MAX;
    }
    if (size > 0)
        memcpy(block_writer_reserve(out, size), next, size);
}

char *text_digits_before(char *end, uint64_t number)
{
    do
        *--end = (char)('0' + number % 10);
    while ((number /= 10) > 0);
    return end;
}

void text_put_number(struct block_writer *out, uint64_t number)
{
    char text[TEXT_DIGITS_MAX], *end = text + sizeof text;
    const char *start = text_digits_before(end, number);
    text_put_bytes(out, start, (size_t)(end - start));
}

void text_put_signed(struct block_writer *out, int64_t number)
{
    if (number < 0)
        text_put_bytes(out, "-", 1);
    text_put_number(out, number < 0 ? -(uint64_t)number : (uint64_t)number);
}

void text_put_hexadecimal(struct block_writer *out, uint64_t number)
{
    char text[2 + 16], *end = text + sizeof text, *next = end;
    do
        *--next = "0123456789abcdef"[number & 15];
    while ((number >>= 4) > 0);
    *--next = 'x';
    *--next = '0';
    text_put_bytes(out, next, (size_t)(end - next));
}

void text_put_microseconds(struct block_writer *out, uint64_t nanoseconds)
{
    char text[TEXT_DIGITS_MAX + 4], *end = text + sizeof text, *next = end;
    uint64_t fraction = nanoseconds % 1000;
    for (int i = 0; i < 3; i++, fraction /= 10)
        *--next = (char)('0' + fraction % 10);
    *--next = '.';
    next = text_digits_before(next, nanoseconds / 1000);
    text_put_bytes(out, next, (size_t)(end - next));
}

void text_put_double(struct block_writer *out, double number)
{
    char text[32] = "null";
    for (int digits = 15; isfinite(number) && digits <= 17; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, number);
        if (strtod(text, NULL) == number)
            break;
    }
    text_put(out, text);
}
