#include "symbol/demangle/demangle_d_bound.h"

#include "base/memory.h"

#include <ctype.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* Stays below the largest integer when two are added. */
static const uint64_t enough = UINT64_MAX / 4;

/* The distance after a Q: digits of base 26, all but the last one in upper case. 0: not a number. */
static size_t distance_at(const char *text)
{
    size_t distance = 0;
    for (; isupper((unsigned char)*text) && distance < SIZE_MAX / 64; text++)
        distance = distance * 26 + (size_t)(*text - 'A');
    return islower((unsigned char)*text) ? distance * 26 + (size_t)(*text - 'a') : 0;
}

/* What a back reference at `at` adds. It repeats an identifier, whose length stands before it, or a
 * type, which ends before the reference. `length[i]` is that of the first i bytes written out. */
static uint64_t repeated_by(const char *symbol, size_t at, const uint64_t *length)
{
    size_t distance = distance_at(symbol + at + 1);
    if (distance == 0 || distance > at)
        return 0;
    size_t target = at - distance;
    if (isdigit((unsigned char)symbol[target]))
        return strtoul(symbol + target, NULL, 10) % (strlen(symbol + target) + 1);
    return length[at] - length[target];
}

uint64_t d_symbol_expanded_length(const char *symbol)
{
    size_t size = strlen(symbol);
    uint64_t *length = memory_allocate((size + 1) * sizeof *length);
    length[0] = 0;
    for (size_t at = 0; at < size; at++) {
        uint64_t repeated = symbol[at] == 'Q' ? repeated_by(symbol, at, length) : 0;
        length[at + 1] = length[at] + 1 + repeated;
        if (length[at + 1] > enough)
            length[at + 1] = enough;
    }
    uint64_t whole = length[size];
    free(length);
    return whole;
}
