/* A fixed number of slots, handed out least recently used first.
 *
 * FXT has 32767 numbers for strings and 255 for threads, and each may be given a new meaning at any
 * time. The tables of the writer take their numbers from here, so no trace is too large for them.
 */
#ifndef MAGIC_TRACE_OUTPUT_SLOT_RECYCLER_H
#define MAGIC_TRACE_OUTPUT_SLOT_RECYCLER_H

#include <stdint.h>

/* Slots are numbered 1..capacity; link 0 is the ends of the list. */
struct slot_recycler {
    struct slot_link {
        uint16_t newer, older;
    } * links; /* owned; the newest slot is links[0].older, the oldest links[0].newer */
    uint32_t capacity;
    uint32_t used;
};

/* `capacity` is at most 65535. */
void slot_recycler_init(struct slot_recycler *recycler, uint32_t capacity);
void slot_recycler_free(struct slot_recycler *recycler);

/* A slot never used before or, when there is none, the least recently used one. It is the most
 * recent now. */
uint32_t slot_recycler_take(struct slot_recycler *recycler);

/* Says that `slot`, which was taken before, is used now. */
static inline void slot_recycler_touch(struct slot_recycler *recycler, uint32_t slot)
{
    struct slot_link *links = recycler->links;
    uint16_t newest = links[0].older;
    if (newest == slot)
        return;
    links[links[slot].newer].older = links[slot].older;
    links[links[slot].older].newer = links[slot].newer;
    links[slot] = (struct slot_link){.newer = 0, .older = newest};
    links[newest].newer = (uint16_t)slot;
    links[0].older = (uint16_t)slot;
}

#endif
