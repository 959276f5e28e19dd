/* Where the functions of a thread's frames begin in the process.
 *
 * A function begins at the same address in nearly all of its frames, so the address is stored once
 * per function, not with each frame. It can differ after exec, after its library was loaded again,
 * or in its cold part: two bits in the frame, its *choice*, select one of three addresses per
 * function; frames with further ones are listed singly.
 *
 * Owned by frame_tree; used through it.
 */
#ifndef MAGIC_TRACE_STACK_FRAME_STARTS_H
#define MAGIC_TRACE_STACK_FRAME_STARTS_H

#include "base/array.h"
#include "symbol/symbols.h"

#include <stdint.h>

enum { FRAME_START_CHOICES = 3, FRAME_START_LISTED = FRAME_START_CHOICES };

struct known_starts {
    uint64_t starts[FRAME_START_CHOICES];
    function_id function;
    uint32_t count; /* of `starts`; 0: the slot is free */
};

struct listed_start {
    uint32_t frame;
    uint64_t start;
};

struct frame_starts {
    struct known_starts *slots; /* owned; a hash table with linear probing */
    uint32_t slot_count;        /* a power of two */
    uint32_t used_count;
    struct array listed; /* struct listed_start, by frame */
};

void frame_starts_init(struct frame_starts *starts);
void frame_starts_free(struct frame_starts *starts);

/* Stores that `frame`, of `function`, begins at `start`; returns its choice. */
unsigned frame_starts_add(struct frame_starts *starts, uint32_t frame, function_id function,
                          uint64_t start);

/* The slot of `function`, or the free one for it. Hashed as in active_functions.h. */
static inline struct known_starts *frame_starts_slot(const struct frame_starts *starts,
                                                     function_id function)
{
    uint32_t index = function * UINT32_C(2654435769);
    struct known_starts *slot;
    do
        slot = &starts->slots[index++ & (starts->slot_count - 1)];
    while (slot->count != 0 && slot->function != function);
    return slot;
}

/* frame_starts_get for FRAME_START_LISTED. */
uint64_t frame_starts_listed(const struct frame_starts *starts, uint32_t frame);

static inline uint64_t frame_starts_get(const struct frame_starts *starts, uint32_t frame,
                                        function_id function, unsigned choice)
{
    if (choice == FRAME_START_LISTED)
        return frame_starts_listed(starts, frame);
    return frame_starts_slot(starts, function)->starts[choice];
}

#endif
