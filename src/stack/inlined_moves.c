#include "stack/inlined_moves.h"

#include "base/memory.h"

#include <stdlib.h>

enum { SLOTS_FIRST = 256 };

struct inlined_moves *inlined_moves_new(const struct inlined_table *calls)
{
    if (calls == NULL)
        return NULL;
    struct inlined_moves *moves = memory_allocate_zeroed(sizeof *moves);
    moves->calls = calls;
    pthread_mutex_init(&moves->lock, NULL);
    return moves;
}

void inlined_moves_free(struct inlined_moves *moves)
{
    if (moves == NULL)
        return;
    for (size_t i = 0; i < INLINED_MOVE_CHUNKS && moves->chunks[i] != NULL; i++)
        free(moves->chunks[i]);
    free(moves->slots);
    pthread_mutex_destroy(&moves->lock);
    free(moves);
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

/* The slot of the move, or the free one for it. */
static uint32_t *find_slot(const struct inlined_moves *moves, inlined_id from, inlined_id to)
{
    uint64_t hash = ((uint64_t)from << 32 | to) * UINT64_C(0x9e3779b97f4a7c15);
    for (size_t index = hash >> 32;; index++) {
        uint32_t *slot = &moves->slots[index & (moves->slot_count - 1)];
        if (*slot == 0)
            return slot;
        const struct inlined_move *move = inlined_moves_at(moves, *slot - 1);
        if (move->from == from && move->to == to)
            return slot;
    }
}

/* So that at least half of the slots are free. */
static void grow(struct inlined_moves *moves)
{
    if (2 * moves->count < moves->slot_count)
        return;
    free(moves->slots);
    moves->slot_count = moves->slot_count == 0 ? SLOTS_FIRST : 2 * moves->slot_count;
    moves->slots = memory_allocate_zeroed(moves->slot_count * sizeof *moves->slots);
    for (uint32_t i = 0; i < moves->count; i++) {
        const struct inlined_move *move = inlined_moves_at(moves, i);
        *find_slot(moves, move->from, move->to) = i + 1;
    }
}

static struct inlined_move *add_record(struct inlined_moves *moves)
{
    uint32_t number = moves->count++;
    struct inlined_move *_Atomic *chunk = &moves->chunks[number / INLINED_MOVE_CHUNK];
    if (*chunk == NULL)
        atomic_store_explicit(chunk,
                              memory_allocate(INLINED_MOVE_CHUNK * sizeof(struct inlined_move)),
                              memory_order_release);
    return &(*chunk)[number % INLINED_MOVE_CHUNK];
}

static void find_out(struct inlined_move *move, const struct inlined_table *calls)
{
    inlined_id shared = inlined_moves_common(calls, move->from, move->to);
    uint32_t depth = inlined_table_at(calls, shared)->depth;
    move->left = inlined_table_at(calls, move->from)->depth - depth;
    move->begun = inlined_table_at(calls, move->to)->depth - depth;
}

static uint32_t find_or_add(struct inlined_moves *moves, inlined_id from, inlined_id to)
{
    grow(moves);
    uint32_t *slot = find_slot(moves, from, to);
    if (*slot == 0) {
        if (moves->count == INLINED_MOVE_CHUNK * INLINED_MOVE_CHUNKS)
            return INLINED_MOVE_NONE;
        struct inlined_move *move = add_record(moves);
        *move = (struct inlined_move){.from = from, .to = to};
        find_out(move, moves->calls);
        *slot = moves->count;
    }
    return *slot - 1;
}

uint32_t inlined_moves_number(struct inlined_moves *moves, inlined_id from, inlined_id to)
{
    pthread_mutex_lock(&moves->lock);
    uint32_t number = find_or_add(moves, from, to);
    pthread_mutex_unlock(&moves->lock);
    return number;
}
