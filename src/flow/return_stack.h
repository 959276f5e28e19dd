/* The calls that a compressed return can return from, as processors remember them.
 *
 * A return that goes where the newest of these calls says is told by one TNT bit. Processors keep
 * 64 of them and forget all at a PSB (SDM volume 3, "Indirect Transfer Compression for Returns
 * (RET)"). Each return takes one off, compressed or not.
 */
#ifndef MAGIC_TRACE_FLOW_RETURN_STACK_H
#define MAGIC_TRACE_FLOW_RETURN_STACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { RETURN_STACK_DEPTH = 64 };

struct block;

struct return_place {
    uint64_t address;
    struct block *block; /* at the address; NULL: not looked for */
};

struct return_stack {
    struct return_place places[RETURN_STACK_DEPTH];
    uint64_t pushed, depth;
};

static inline void return_stack_push(struct return_stack *stack, struct return_place place)
{
    stack->places[stack->pushed++ % RETURN_STACK_DEPTH] = place;
    stack->depth += stack->depth < RETURN_STACK_DEPTH;
}

/* False when it is empty. */
static inline bool return_stack_pop(struct return_stack *stack, struct return_place *place)
{
    if (!stack->depth)
        return false;
    stack->depth--;
    *place = stack->places[--stack->pushed % RETURN_STACK_DEPTH];
    return true;
}

/* Blocks have been dropped. */
static inline void return_stack_forget_blocks(struct return_stack *stack)
{
    for (unsigned i = 0; i < RETURN_STACK_DEPTH; i++)
        stack->places[i].block = NULL;
}

#endif
