/* The moves of control from one inlined function to another, by their number.
 *
 * A move ends some inlined functions and begins others, all at one moment. A program makes few different moves, each of
 * them often, so what one consists of is found out once, and a number represents it: in the histories of all threads
 * (history.h), and in the spans made of them (spans/span_moves.h).
 *
 * Owned by the timeline. Threads add moves at any time, under a lock; what has been added is read without one. Each
 * thread finds the number of a pair by an inlined_move_cache.h.
 */
#ifndef MAGIC_TRACE_STACK_INLINED_MOVES_H
#define MAGIC_TRACE_STACK_INLINED_MOVES_H

#include "symbol/dwarf/inlined_table.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>

/* `left` functions end, the innermost first, then `begun` begin, the outermost first. */
struct inlined_move {
    inlined_id from, to; /* the innermost one before and after; they differ */
    uint32_t left, begun;
};

/* Records never move: a chunk at a time is allocated. */
enum { INLINED_MOVE_CHUNK = 512, INLINED_MOVE_CHUNKS = 2048 };

/* Instead of the number of a move that has none. */
#define INLINED_MOVE_NONE UINT32_MAX

struct inlined_moves {
    const struct inlined_table *calls; /* borrowed */
    pthread_mutex_t lock;              /* for all that follows, but for reading records */
    uint32_t count;                    /* of numbers in use */
    struct inlined_move *_Atomic chunks[INLINED_MOVE_CHUNKS];
    uint32_t *slots;     /* owned; a hash table with linear probing: numbers plus 1; 0: free */
    uint32_t slot_count; /* a power of two, or 0 */
};

/* NULL if there are no inlined functions. */
struct inlined_moves *inlined_moves_new(const struct inlined_table *calls);
void inlined_moves_free(struct inlined_moves *moves);

/* The number of the move, `from` and `to` being different. INLINED_MOVE_NONE: all are in use. */
uint32_t inlined_moves_number(struct inlined_moves *moves, inlined_id from, inlined_id to);

static inline const struct inlined_move *inlined_moves_at(const struct inlined_moves *moves,
                                                          uint32_t number)
{
    const struct inlined_move *chunk =
        atomic_load_explicit(&moves->chunks[number / INLINED_MOVE_CHUNK], memory_order_acquire);
    return &chunk[number % INLINED_MOVE_CHUNK];
}

/* In how many steps the history has it where each has a step of its own: one for all that end, one for each that
 * begins. */
static inline uint32_t inlined_move_steps(const struct inlined_move *move)
{
    return (move->left > 0) + move->begun;
}

/* The innermost one that contains both. */
inlined_id inlined_moves_common(const struct inlined_table *calls, inlined_id left,
                                inlined_id right);

#endif
