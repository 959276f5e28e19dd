/* The calls in progress on a program's stack, as an encoder remembers them to tell them behind PSBs
 * (callchain_snapshot.h).
 *
 * They are counted: a call has the number of calls in progress before it. The count is the
 * encoder's, which also needs it to compress returns; calls base <= number < count are here, at
 * number & mask. A call is over when the stack pointer is above the slot that holds its return
 * address; that is looked at only now and then, so some that are over may still be here.
 */
#ifndef MAGIC_TRACE_PACKET_CALLS_H
#define MAGIC_TRACE_PACKET_CALLS_H

#include <stdbool.h>
#include <stdint.h>

struct pt_call {
    uint64_t return_address; /* as told: see CALLCHAIN_INTERRUPTED */
    uint64_t slot;           /* address on the stack */
};

struct pt_calls {
    struct pt_call *ring; /* mask + 1 of them, a power of two; borrowed */
    uint64_t mask;
    uint64_t base;
    bool all; /* nobody has called what runs below `base` */
};

static inline struct pt_call *pt_calls_at(const struct pt_calls *calls, uint64_t number)
{
    return &calls->ring[number & calls->mask];
}

/* Of `count` calls those that are still in progress, as far as the newest ones are over, when the
 * stack pointer is `pointer`. Also forgets those that the ring had no room for. */
uint64_t pt_calls_drop_dead(struct pt_calls *calls, uint64_t count, uint64_t pointer);

/* The same, and leaves out those between them that are over, too. */
uint64_t pt_calls_drop_all_dead(struct pt_calls *calls, uint64_t count, uint64_t pointer);

/* Whether the stack is the same when its pointer goes from `from` to `to` at once. */
bool pt_calls_same_stack(const struct pt_calls *calls, uint64_t count, uint64_t from, uint64_t to);

/* The packets that tell `count` calls, at most CALLCHAIN_PACKETS_MOST. `*outermost` becomes the
 * number of the last call that they tell. */
uint32_t pt_calls_count_packets(const struct pt_calls *calls, uint64_t count, uint64_t *outermost);

/* The payload that tells the innermost of `*count` calls and those that are the same; takes them
 * off the count. */
uint64_t pt_calls_next_packet(const struct pt_calls *calls, uint64_t *count);

#endif
