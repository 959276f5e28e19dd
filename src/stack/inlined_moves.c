#include "stack/inlined_moves.h"

#include "base/memory.h"
#include "stack/history.h"

#include <stdlib.h>
#include <string.h>

enum { SLOTS_FIRST = 64, SLOTS_MAX = 8192 };

void inlined_moves_free(struct inlined_moves *moves)
{
    free(moves->slots);
    *moves = (struct inlined_moves){0};
}

inlined_id inlined_moves_common(const struct inlined_table *calls, inlined_id left,
                                inlined_id right)
{
    const struct inlined *l = inlined_table_at(calls, left), *r = inlined_table_at(calls, right);
    while (left != right) {
        if (l->depth >= r->depth)
            l = inlined_table_at(calls, left = l->outer);
        else
            r = inlined_table_at(calls, right = r->outer);
    }
    return left;
}

/* What is in it is found out again. */
static void grow(struct inlined_moves *moves)
{
    moves->slot_count = moves->slot_count == 0 ? SLOTS_FIRST : 2 * moves->slot_count;
    moves->missed = 0;
    size_t size = moves->slot_count * sizeof *moves->slots;
    moves->slots = memory_resize(moves->slots, size);
    memset(moves->slots, 0, size);
}

const struct inlined_move *inlined_moves_add(struct inlined_moves *moves,
                                             const struct inlined_table *calls, inlined_id from,
                                             inlined_id to)
{
    inlined_id shared = inlined_moves_common(calls, from, to);
    uint32_t ended = shared != from;
    uint32_t begun = inlined_table_at(calls, to)->depth - inlined_table_at(calls, shared)->depth;
    if (begun > INLINED_MOVE_STEPS - ended)
        return NULL;
    if (moves->slot_count == 0 ||
        (++moves->missed > moves->slot_count && moves->slot_count < SLOTS_MAX))
        grow(moves);
    struct inlined_move *move = inlined_moves_slot(moves, from, to);
    move->from = from;
    move->to = to;
    move->count = ended + begun;
    if (ended > 0)
        move->steps[0] = history_step_of(HISTORY_INLINED_END, shared);
    for (uint64_t i = move->count; to != shared; to = inlined_table_at(calls, to)->outer)
        move->steps[--i] = history_step_of(HISTORY_INLINED, to);
    return move;
}
