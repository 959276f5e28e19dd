/* The calls that a compressed return can return from, as processors keep them.
 *
 * A return to the address of the newest of these calls is one TNT bit. Processors keep 64 of them
 * and forget all at a PSB (SDM volume 3, "Indirect Transfer Compression for Returns (RET)"). Each
 * return, compressed or not, pops one.
 */
#ifndef MAGIC_TRACE_DECODE_PT_BLOCKS_RETURN_STACK_H
#define MAGIC_TRACE_DECODE_PT_BLOCKS_RETURN_STACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    RETURN_STACK_DEPTH = 64,
    RETURN_STACK_SLOTS = 128, /* more than the depth: the next slot may always be written */
};

struct return_place {
    uint64_t address;
    uint32_t block;    /* id of the block there; 0: not looked up, or dropped since */
    uint32_t function; /* function_id of the code there, if `block` is not 0 */
};

struct return_stack {
    struct return_place places[RETURN_STACK_SLOTS];
    uint64_t pushed; /* place number i is in slot i modulo RETURN_STACK_SLOTS */
    uint64_t floor;  /* the oldest that is valid, unless it has been overwritten */
};

/* Adds `count` places, 0 or 1; branch-free, because `count` is unpredictable. */
static inline void return_stack_push(struct return_stack *stack, struct return_place place,
                                     unsigned count)
{
    stack->places[stack->pushed % RETURN_STACK_SLOTS] = place;
    stack->pushed += count;
}

/* False when it is empty. */
static inline bool return_stack_pop(struct return_stack *stack, struct return_place *place)
{
    if (stack->pushed == stack->floor)
        return false;
    if (stack->pushed - stack->floor > RETURN_STACK_DEPTH)
        stack->floor = stack->pushed - RETURN_STACK_DEPTH;
    *place = stack->places[--stack->pushed % RETURN_STACK_SLOTS];
    return true;
}

/* False when it is empty. Does not pop. */
static inline bool return_stack_newest(const struct return_stack *stack, struct return_place *place)
{
    *place = stack->places[(stack->pushed - 1) % RETURN_STACK_SLOTS];
    return stack->pushed != stack->floor;
}

static inline void return_stack_forget(struct return_stack *stack)
{
    stack->floor = stack->pushed;
}

/* The blocks have been dropped. */
static inline void return_stack_forget_blocks(struct return_stack *stack)
{
    for (unsigned i = 0; i < RETURN_STACK_SLOTS; i++)
        stack->places[i].block = 0;
}

#endif
