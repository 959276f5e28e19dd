/* One stack in memory: the frames on it, each known by where its return address lies.
 *
 * A thread has several when it has fibers, goroutines, or a stack for signal handlers. Used by
 * true_stack, which owns them.
 */
#ifndef MAGIC_TRACE_TESTS_STACK_AREA_H
#define MAGIC_TRACE_TESTS_STACK_AREA_H

#include "true_tree.h"

#include <stdbool.h>
#include <stdint.h>

struct true_frame {
    uint64_t slot; /* UINT64_MAX: a stack's first frame */
    true_node node;
    uint64_t returns_to; /* 0: it was not called */
    bool unseen;         /* no code has run in it yet: `node` is its caller's */
    bool standing;       /* a function of another stack goes on here */
};

struct stack_area {
    struct array frames;      /* struct true_frame */
    uint64_t top;             /* the highest RSP it was seen at in its first frame */
    uint64_t suspended;       /* RSP when it was left */
    uint64_t begun;           /* RSP at its very first; 0: not known */
    uint64_t left;            /* when, in steps */
    uint32_t goroutine;       /* truth_record.g of the one whose stack it is; 0: of none */
    struct stack_area *below; /* interrupted by a signal handler that runs on this one */
};

/* With a first frame that is unseen, called by `node`. */
struct stack_area *stack_area_new(true_node node);
void stack_area_free(struct stack_area *area);

struct true_frame *stack_area_frame(const struct stack_area *area, size_t index);
struct true_frame *stack_area_leaf(const struct stack_area *area);

/* `node`: of what lies below. */
void stack_area_push(struct stack_area *area, uint64_t slot, true_node node);
/* `node` goes on in another stack than its own. */
void stack_area_push_standing(struct stack_area *area, uint64_t slot, true_node node);
void stack_area_drop_standing(struct stack_area *area, uint64_t rsp);
/* Drops the frames whose slots lie below `rsp`. */
void stack_area_cut(struct stack_area *area, uint64_t rsp);

/* Whether RSP may be in the area, which was left. */
bool stack_area_covers(const struct stack_area *area, uint64_t rsp);
/* All of it lies elsewhere now. */
void stack_area_move(struct stack_area *area, uint64_t distance);

#endif
