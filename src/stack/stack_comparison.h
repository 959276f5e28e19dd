/* Two call stacks compared: which of their frames may be the same.
 *
 * Called by stitching.c and stack_switch.c, which draw the conclusions.
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

/* Where two chains meet: index of a frame in each, and how many frames agree from that one inwards.
 */
struct meeting {
    size_t before, after;
    size_t agreeing; /* 0: they do not meet */
};

struct comparison {
    struct thread_stack *stack;
    const struct segment *segment;
    struct chain before, after;
    struct unwind_range range; /* of `before`: frames in which control can continue */
    uint32_t done;             /* comparisons of frames so far; they are limited */
};

/* Compares the segment's first stack with the one whose leaf is `before`. The caller calls
 * stack_comparison_end. */
struct comparison stack_comparison_begin(struct thread_stack *stack, const struct segment *segment,
                                         frame_id before);
void stack_comparison_end(struct comparison *comparison);

/* The best place where the root of one chain meets a frame of the other. `whole`: all frames of
 * `after` must agree. */
struct meeting stack_comparison_find_meeting(struct comparison *comparison, bool whole);

/* For chains that are known up to the same caller: they meet where their ancestors part. */
struct meeting stack_comparison_find_parting(struct comparison *comparison);

/* How many frames agree from these two inwards. */
size_t stack_comparison_count_agreeing(struct comparison *comparison, size_t before, size_t after);

/* The frames that agree are one, active before the segment and in it. */
void stack_comparison_keep(const struct comparison *comparison, const struct meeting *meeting,
                           struct segment *segment);

/* Makes both chains one stack from the meeting outwards. Returns the link between them. */
frame_id stack_comparison_join(const struct comparison *comparison, const struct meeting *meeting);

/* Whether the stacks of two leaves look alike up to their outermost callers: it does not matter then which one runs. */
bool stack_comparison_are_alike(const struct thread_stack *stack, frame_id one, frame_id other);

#endif
