/* The stacks (of goroutines, fibers, threads) that were suspended or resumed, each with the parts of
 * tracks that ran on it.
 *
 * Called by the server.
 */
#ifndef MAGIC_TRACE_INDEX_STACKS_H
#define MAGIC_TRACE_INDEX_STACKS_H

#include "index/trace_index.h"

#define INDEX_SEVERAL_TRACKS UINT32_MAX

struct index_stack {
    const char *name;        /* of the function that it runs; the index's */
    uint64_t parts, running; /* running: ns in them */
    uint64_t first, last;
    uint32_t depth; /* spans open at once at most */
    uint32_t track; /* of its process */
};

/* What ran on a stack: the spans of the track in that time. Of INDEX_SEVERAL_TRACKS: several parts,
 * too short to be distinguished. */
struct index_stack_part {
    uint64_t from, to;
    uint32_t stack;
    uint32_t track;
};

/* Stacks are numbered from 0, the busiest first. */
struct index_stack index_stack(const struct trace_index *index, uint32_t stack);

/* Appends the parts of the first `stacks` stacks that overlap the range, by stack and time.
 * Parts shorter than `resolution` ns, and no further apart, are one; where these are more than
 * `limit`, it is made lower. */
void index_stack_parts(const struct trace_index *index, struct index_range range, uint32_t stacks,
                       uint64_t resolution, size_t limit, struct array *parts);

#endif
