/* The distinct call stacks of a trace, each with its calls and the time spent in its innermost
 * function itself: what flame graphs are made of.
 *
 * Used by the folded stacks and by pprof's format. Memory is per distinct stack, not per call.
 * Both formats write each stack with all its frames, so a recursion of 200,000 levels would fill a
 * disk: of a very deep stack the frames in the middle are left out.
 */
#ifndef MAGIC_TRACE_OUTPUT_REPORT_STACK_SUMS_H
#define MAGIC_TRACE_OUTPUT_REPORT_STACK_SUMS_H

#include "base/arena.h"
#include "base/array.h"
#include "stack/spans/span.h"

#include <stdbool.h>
#include <stdint.h>
#include <uthash.h>

/* A distinct stack: its innermost function, called from the stack `caller`. A thread is a stack
 * without function. */
struct summed_stack {
    struct stack_key {
        struct summed_stack *caller; /* NULL: this is a thread */
        /* A struct span_function; of a thread, its struct span_track. */
        const void *what;
    } key;
    uint32_t depth; /* frames; 0: a thread */
    /* That of its callers which is STACK_OUTER_FRAMES deep; NULL when it is not that deep. */
    const struct summed_stack *outer;
    uint64_t self; /* ns */
    uint64_t calls;
    /* The child asked for last, nearly always the next one too; or NULL. */
    struct summed_stack *last_child;
    UT_hash_handle hh; /* hh.next: the node that was met next */
};

/* Of a stack that has more frames, only these are reported. */
enum { STACK_OUTER_FRAMES = 512, STACK_INNER_FRAMES = 512 };

/* Represents the omitted frames. */
#define STACK_LEFT_OUT "[...]"

struct stack_sums {
    struct arena arena;
    struct summed_stack *nodes; /* in the order in which they were met; NULL: none */
    struct array tracks;        /* of struct stack_track */
};

void stack_sums_init(struct stack_sums *sums);
void stack_sums_free(struct stack_sums *sums);

/* To be called with each event of `source` but those of hits. */
void stack_sums_read(struct stack_sums *sums, const struct span_source *source,
                     const struct span_event *event);

/* The caller of `stack`, when all of `leaf` is reported from the innermost frame outwards; finally
 * the thread. `left_out`: frames between them are omitted. */
static inline const struct summed_stack *
stack_sums_caller(const struct summed_stack *leaf, const struct summed_stack *stack, bool *left_out)
{
    *left_out = leaf->depth > STACK_OUTER_FRAMES + STACK_INNER_FRAMES &&
                leaf->depth - stack->depth == STACK_INNER_FRAMES - 1;
    return *left_out ? leaf->outer : stack->key.caller;
}

#endif
