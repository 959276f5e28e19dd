#include "packet/calls.h"

#include "packet/callchain_snapshot.h"

uint64_t pt_calls_drop_dead(struct pt_calls *calls, uint64_t count, uint64_t pointer)
{
    if (count - calls->base > calls->mask + 1) {
        calls->base = count - calls->mask - 1;
        calls->all = false;
    }
    while (count > calls->base && pt_calls_at(calls, count - 1)->slot < pointer)
        count--;
    return count;
}

/* On one stack a caller's slot is above its callee's. */
uint64_t pt_calls_drop_all_dead(struct pt_calls *calls, uint64_t count, uint64_t pointer)
{
    count = pt_calls_drop_dead(calls, count, pointer);
    uint64_t kept = count, lowest = 0;
    for (uint64_t number = count; number-- > calls->base;) {
        struct pt_call call = *pt_calls_at(calls, number);
        if (call.slot > lowest) {
            lowest = call.slot;
            *pt_calls_at(calls, --kept) = call;
        }
    }
    calls->base = kept;
    return count;
}

bool pt_calls_same_stack(const struct pt_calls *calls, uint64_t count, uint64_t from, uint64_t to)
{
    /* PUSHED: bytes that code on the same stack may push meanwhile. UNWOUND: bytes that it may
     * unwind when none of its callers is known. */
    enum { PUSHED = 512, UNWOUND = 64 << 10 };
    bool known = count > calls->base;
    uint64_t highest = known ? pt_calls_at(calls, calls->base)->slot : from + UNWOUND;
    return to + PUSHED >= from && to <= highest + PUSHED;
}

/* How many of `count` calls, from the innermost outwards, return to the same address. */
static uint64_t count_same(const struct pt_calls *calls, uint64_t count)
{
    uint64_t address = pt_calls_at(calls, count - 1)->return_address, same = 1;
    while (count - same > calls->base && same <= CALLCHAIN_REPEATED_MOST &&
           pt_calls_at(calls, count - same - 1)->return_address == address)
        same++;
    return same;
}

uint32_t pt_calls_count_packets(const struct pt_calls *calls, uint64_t count, uint64_t *outermost)
{
    uint32_t packets = 0;
    for (; count > calls->base && packets < CALLCHAIN_PACKETS_MOST; packets++)
        count -= count_same(calls, count);
    *outermost = count;
    return packets;
}

uint64_t pt_calls_next_packet(const struct pt_calls *calls, uint64_t *count)
{
    uint64_t same = count_same(calls, *count);
    uint64_t address = pt_calls_at(calls, *count - 1)->return_address;
    *count -= same;
    return address | (same - 1) << CALLCHAIN_REPEATED_SHIFT;
}
