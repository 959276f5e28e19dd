/* A fixed number of slots, allocated least recently used first.
 *
 * FXT has 32767 numbers for strings and 255 for threads, and each may be given a new meaning at any
 * time. The tables of the writer take their numbers from here, so no trace is too large for them.
 *
 * The order does not matter while unused slots are left, and maintaining it takes more time than
 * all else in a table. So it is maintained only once few are left: a slot that was not used since
 * then counts as used when it was allocated.
 */
#ifndef MAGIC_TRACE_OUTPUT_FXT_SLOT_RECYCLER_H
#define MAGIC_TRACE_OUTPUT_FXT_SLOT_RECYCLER_H

#include <stdbool.h>
#include <stdint.h>

/* Slots are numbered 1..capacity; link 0 is the ends of the list. */
struct slot_recycler {
    struct slot_link {
        uint16_t newer, older;
    } * links; /* owned; the newest slot is links[0].older, the oldest links[0].newer */
    uint32_t capacity;
    uint32_t used;
    uint32_t unordered; /* while no more than that are used the order is not kept */
};

/* `capacity` is at most 65535. */
void slot_recycler_init(struct slot_recycler *recycler, uint32_t capacity);
void slot_recycler_free(struct slot_recycler *recycler);

/* A slot never used before or, when all were, the least recently used one. It is the most
 * recent now. */
uint32_t slot_recycler_take(struct slot_recycler *recycler);

/* False as long as each slot has the meaning that it was taken for first, also if it is not touched
 * when it is used. */
static inline bool slot_recycler_keeps_order(const struct slot_recycler *recycler)
{
    return recycler->used > recycler->unordered;
}

/* Says that `slot`, which was taken before, is used now. */
static inline void slot_recycler_touch(struct slot_recycler *recycler, uint32_t slot)
{
    struct slot_link *links = recycler->links;
    uint16_t newest = links[0].older;
    if (newest == slot || !slot_recycler_keeps_order(recycler))
        return;
    links[links[slot].newer].older = links[slot].older;
    links[links[slot].older].newer = links[slot].newer;
    links[slot] = (struct slot_link){.newer = 0, .older = newest};
    links[newest].newer = (uint16_t)slot;
    links[0].older = (uint16_t)slot;
}

#endif
