/* Where a thread's parked stacks go on: a quick answer that none goes on at an address.
 *
 * Every return has to ask, and a program can have a thousand fibers. Addresses share counters, so
 * "perhaps" is followed by a search (stack_switch.c), "no" is certain.
 *
 * Kept by thread_stack_park and thread_stack_forget_suspended, one to one with thread_stack.parked.
 */
#ifndef MAGIC_TRACE_STACK_SUSPENDED_ADDRESSES_H
#define MAGIC_TRACE_STACK_SUSPENDED_ADDRESSES_H

#include <stdbool.h>
#include <stdint.h>

enum { SUSPENDED_ADDRESSES_BITS = 8 };

struct suspended_addresses {
    uint32_t
        counts[1 << SUSPENDED_ADDRESSES_BITS]; /* stacks that go on at an address of this slot */
};

/* Neighbouring call sites differ in the low bits only; see frame_children.c for the constant. */
static inline uint32_t *suspended_addresses_slot(struct suspended_addresses *places,
                                                 uint64_t address)
{
    return &places
                ->counts[address * UINT64_C(0x9e3779b97f4a7c15) >> (64 - SUSPENDED_ADDRESSES_BITS)];
}

static inline bool suspended_addresses_may_hold(const struct suspended_addresses *places,
                                                uint64_t address)
{
    return *suspended_addresses_slot((struct suspended_addresses *)places, address) > 0;
}

#endif
