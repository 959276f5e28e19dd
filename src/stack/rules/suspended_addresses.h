/* Where a thread's suspended stacks continue: a quick answer that none continues at an address.
 *
 * Every return asks, and a program can have a thousand fibers. Addresses share counters, so after
 * "perhaps" comes a search (stack_switch.c); "no" is certain.
 *
 * Part of the state of stack_switch.c, which updates it in step with the list of suspended stacks.
 */
#ifndef MAGIC_TRACE_STACK_RULES_SUSPENDED_ADDRESSES_H
#define MAGIC_TRACE_STACK_RULES_SUSPENDED_ADDRESSES_H

#include <stdbool.h>
#include <stdint.h>

enum { SUSPENDED_ADDRESSES_BITS = 8 };

struct suspended_addresses {
    uint32_t
        counts[1 << SUSPENDED_ADDRESSES_BITS]; /* stacks that continue at an address of this slot */
};

/* The slot of an address. Neighbouring call sites differ in the low bits only; see frame_hash for
 * the constant. */
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
