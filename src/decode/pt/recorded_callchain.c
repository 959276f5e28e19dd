#include "decode/pt/recorded_callchain.h"

#include "packet/callchain_snapshot.h"

void recorded_callchain_init(struct recorded_callchain *callers)
{
    *callers = (struct recorded_callchain){.addresses = array_of(sizeof(uint64_t))};
}

void recorded_callchain_free(struct recorded_callchain *callers)
{
    array_free(&callers->addresses);
}

void recorded_callchain_forget(struct recorded_callchain *callers)
{
    callers->addresses.count = 0;
    callers->expected = 0;
    callers->placed = callers->whole = false;
}

void recorded_callchain_add(struct recorded_callchain *callers, uint64_t payload)
{
    if (callchain_is_header(payload)) {
        recorded_callchain_forget(callers);
        callers->expected = callchain_count(payload);
        callers->all = callchain_is_whole(payload);
        callers->placed = callchain_is_placed(payload);
        callers->whole = callers->expected == 0;
    } else if (callers->addresses.count < callers->expected) {
        *(uint64_t *)array_add(&callers->addresses) = payload;
        callers->whole = callers->addresses.count == callers->expected;
    }
}
