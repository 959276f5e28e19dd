/* Two call stacks laid against each other: which frames of them may be one.
 *
 * Called by stitching.c, which tells what is concluded from it.
 */
#ifndef MAGIC_TRACE_STACK_STACK_COMPARISON_H
#define MAGIC_TRACE_STACK_STACK_COMPARISON_H

#include "stack/rules/unwind_target_pointers.h"

/* A call stack as a list, the leaf first. */
struct chain {
    struct array frames; /* frame_id */
    frame_id top;        /* the placeholder above the root */
};

static inline frame_id chain_at(const struct chain *chain, size_t index)
{
    return *(frame_id *)array_at(&chain->frames, index);
}

/* Where two chains meet: index of a frame in each, and how many frames agree, that one and further
 * in. */
struct meeting {
    size_t before, after;
    size_t agreeing; /* 0: they do not meet */
};

struct comparison {
    struct thread_stack *stack;
    const struct segment *segment;
    struct chain before, after;
    struct unwind_range range; /* of `before`: frames that can be landed in */
    uint32_t done;             /* comparisons of frames; they are limited */
};

/* The segment's first stack with the one whose leaf is `before`. To be ended. */
struct comparison comparison_begin(struct thread_stack *stack, const struct segment *segment,
                                   frame_id before);
void comparison_end(struct comparison *comparison);

/* The best place where the root of one chain meets a frame of the other. `whole`: all frames of
 * `after` must agree. */
struct meeting comparison_find_meeting(struct comparison *comparison, bool whole);

/* Both are known up to the same caller, so they meet where their ancestors part. */
struct meeting comparison_find_parting(struct comparison *comparison);

/* From these two frames inwards. */
size_t comparison_count_agreeing(struct comparison *comparison, size_t before, size_t after);

/* Both chains are one stack from the meeting on outwards. */
void comparison_join(const struct comparison *comparison, const struct meeting *meeting);

#endif
