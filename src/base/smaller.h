/* The smaller of two numbers.
 *
 * Called by call_walk.c, disk_reserve.c, edit_distance.c, scan_parts.c and
 * stack_tree.c.
 */
#ifndef MAGIC_TRACE_BASE_SMALLER_H
#define MAGIC_TRACE_BASE_SMALLER_H

#include <stdint.h>

static inline uint64_t smaller(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

#endif
