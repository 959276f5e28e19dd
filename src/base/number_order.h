/* Sorts elements by numbers, such as addresses: a few instructions per element, where qsort takes
 * some hundred.
 *
 *     struct numbered *order = memory_allocate(count * sizeof *order);
 *     for (size_t i = 0; i < count; i++)
 *         order[i] = (struct numbered){things[i].start, i};
 *     number_order(order, count);     // things[order[0].index] starts first
 *
 * A radix sort, byte by byte, of the bytes in which the numbers differ. Stable: elements with equal
 * numbers keep their order. Called by symbol/, image/ and recording/.
 */
#ifndef MAGIC_TRACE_BASE_NUMBER_ORDER_H
#define MAGIC_TRACE_BASE_NUMBER_ORDER_H

#include <stddef.h>
#include <stdint.h>

struct numbered {
    uint64_t number;
    size_t index; /* of the element with that number */
};

void number_order(struct numbered *elements, size_t count);

#endif
