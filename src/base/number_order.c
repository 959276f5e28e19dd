#include "base/number_order.h"

#include "base/memory.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { DIGITS = sizeof(uint64_t), VALUES = 256 };

static uint8_t digit_of(uint64_t number, unsigned digit)
{
    return (uint8_t)(number >> 8 * digit);
}

/* How many numbers have each value of each digit. */
static void count_values(const struct numbered *elements, size_t count,
                         size_t counts[DIGITS][VALUES])
{
    memset(counts, 0, sizeof(size_t[DIGITS][VALUES]));
    for (size_t i = 0; i < count; i++)
        for (unsigned digit = 0; digit < DIGITS; digit++)
            counts[digit][digit_of(elements[i].number, digit)]++;
}

/* Sorts by one digit, into `sorted`. `counts` holds where the next number with each digit goes. */
static void sort_by_digit(const struct numbered *elements, size_t count, unsigned digit,
                          size_t *counts, struct numbered *sorted)
{
    size_t next = 0;
    for (unsigned value = 0; value < VALUES; value++) {
        size_t here = counts[value];
        counts[value] = next;
        next += here;
    }
    for (size_t i = 0; i < count; i++)
        sorted[counts[digit_of(elements[i].number, digit)]++] = elements[i];
}

static bool is_ordered(const struct numbered *elements, size_t count)
{
    size_t i = 1;
    while (i < count && elements[i - 1].number <= elements[i].number)
        i++;
    return i >= count;
}

void number_order(struct numbered *elements, size_t count)
{
    if (is_ordered(elements, count))
        return;
    size_t counts[DIGITS][VALUES];
    count_values(elements, count, counts);
    struct numbered *other = memory_allocate(count * sizeof *other);
    struct numbered *from = elements, *to = other;
    for (unsigned digit = 0; digit < DIGITS; digit++) {
        if (counts[digit][digit_of(elements[0].number, digit)] == count)
            continue; /* all numbers have the same digit */
        sort_by_digit(from, count, digit, counts[digit], to);
        struct numbered *sorted = to;
        to = from;
        from = sorted;
    }
    if (from != elements)
        memcpy(elements, from, count * sizeof *elements);
    free(other);
}
