/* The active calls on a program's stack, which an encoder keeps for the callchain snapshots after
 * PSBs (callchain_snapshot.h).
 *
 * Calls are numbered: the number of a call is the number of calls active before it. The encoder
 * keeps the count, which it also needs to compress returns; calls base <= number < count are stored
 * at number & mask. A call has ended when the stack pointer is above the slot that holds its return
 * address. That is checked only now and then, so some stored calls may have ended.
 */
#ifndef MAGIC_TRACE_PACKET_CALLS_H
#define MAGIC_TRACE_PACKET_CALLS_H

#include <stdbool.h>
#include <stdint.h>

struct pt_call {
    uint64_t return_address; /* as in a callchain snapshot: may be CALLCHAIN_INTERRUPTED */
    uint64_t slot;           /* address on the stack */
};

struct pt_calls {
    struct pt_call *ring; /* mask + 1 of them, a power of two; borrowed */
    uint64_t mask;
    uint64_t base;
    bool all; /* the stack has no calls outside those from `base` on */
};

static inline struct pt_call *pt_calls_at(const struct pt_calls *calls, uint64_t number)
{
    return &calls->ring[number & calls->mask];
}

/* Of `count` calls, how many remain when those that have ended are dropped from the newest on, with
 * the stack pointer at `pointer`. Also forgets calls that the ring has overwritten. */
uint64_t pt_calls_drop_dead(struct pt_calls *calls, uint64_t count, uint64_t pointer);

/* As pt_calls_drop_dead, and also removes calls between others that have ended. */
uint64_t pt_calls_drop_all_dead(struct pt_calls *calls, uint64_t count, uint64_t pointer);

/* Whether a stack pointer that changes from `from` to `to` at once stays on the same stack. */
bool pt_calls_same_stack(const struct pt_calls *calls, uint64_t count, uint64_t from, uint64_t to);

/* The number of packets for `count` calls, at most CALLCHAIN_PACKETS_MOST. `*outermost` becomes the
 * number of the last call that they hold. */
uint32_t pt_calls_count_packets(const struct pt_calls *calls, uint64_t count, uint64_t *outermost);

/* The payload for the innermost of `*count` calls and those that are the same; subtracts them from
 * the count. */
uint64_t pt_calls_next_packet(const struct pt_calls *calls, uint64_t *count);

#endif
