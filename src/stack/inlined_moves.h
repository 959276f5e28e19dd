/* What the history records when control moves from one inlined function to another: a program does
 * so in few places and often, so the steps of each pair of them are found out once.
 *
 * A part of inlined_functions.c; owned by a thread's stack. A table in which a pair takes the place
 * of another one with the same slot; it grows as long as pairs are missed often. Empty until the
 * thread's first move.
 */
#ifndef MAGIC_TRACE_STACK_INLINED_MOVES_H
#define MAGIC_TRACE_STACK_INLINED_MOVES_H

#include "symbol/dwarf/inlined_table.h"

#include <stdint.h>

/* More steps are not kept: moves out of one function and into five at once are rare. */
enum { INLINED_MOVE_STEPS = 5 };

struct inlined_move {
    inlined_id from, to; /* equal: the slot is free */
    uint64_t count;
    uint64_t steps[INLINED_MOVE_STEPS]; /* as history_step_of makes them */
};

struct inlined_moves {
    struct inlined_move *slots; /* owned */
    uint32_t slot_count;        /* a power of two, or 0 */
    uint32_t missed;            /* since it last grew */
};

void inlined_moves_free(struct inlined_moves *moves);

static inline struct inlined_move *inlined_moves_slot(const struct inlined_moves *moves,
                                                      inlined_id from, inlined_id to)
{
    uint32_t hash = (from * UINT32_C(0x85ebca6b) ^ to) * UINT32_C(2654435769);
    return &moves->slots[hash >> 16 & (moves->slot_count - 1)];
}

/* NULL: not known. */
static inline const struct inlined_move *inlined_moves_find(const struct inlined_moves *moves,
                                                            inlined_id from, inlined_id to)
{
    if (moves->slot_count == 0)
        return NULL;
    const struct inlined_move *move = inlined_moves_slot(moves, from, to);
    return move->from == from && move->to == to ? move : NULL;
}

/* Finds out the steps, `from` and `to` being different. Valid until the next call. NULL: they are
 * more than can be kept. */
const struct inlined_move *inlined_moves_add(struct inlined_moves *moves,
                                             const struct inlined_table *calls, inlined_id from,
                                             inlined_id to);

static inline const struct inlined_move *inlined_moves_get(struct inlined_moves *moves,
                                                           const struct inlined_table *calls,
                                                           inlined_id from, inlined_id to)
{
    const struct inlined_move *known = inlined_moves_find(moves, from, to);
    return known != NULL ? known : inlined_moves_add(moves, calls, from, to);
}

/* The innermost one that contains both. */
inlined_id inlined_moves_common(const struct inlined_table *calls, inlined_id left,
                                inlined_id right);

#endif
