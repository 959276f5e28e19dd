/* Converts overlapping ranges to disjoint ones: at each address the range of the highest rank wins.
 *
 * Symbol tables nest (a label inside a function, a PLT slot inside the frame description of the
 * whole PLT), and perf-PID.map files reuse addresses when code is compiled again. Called by
 * symbol_table.c; O(n log n).
 */
#ifndef MAGIC_TRACE_SYMBOL_RANGE_COVER_H
#define MAGIC_TRACE_SYMBOL_RANGE_COVER_H

#include "base/array.h"

#include <stdint.h>

struct ranked_range {
    uint64_t start, end; /* end exclusive; empty ones are ignored */
    uint64_t rank;       /* distinct */
    uint32_t owner;
};

struct covered_range {
    uint64_t start, end;
    uint32_t owner;
};

/* Returns an array of struct covered_range, ascending, without overlaps; neighbours of the same
 * owner are one. At most twice as many as `count`. The caller frees it with array_free. */
struct array range_cover(const struct ranked_range *ranges, size_t count);

#endif
