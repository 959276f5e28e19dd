#include "decode/pt/recorded_callchain.h"

#include "packet/callchain_snapshot.h"

void told_callers_init(struct told_callers *callers)
{
    *callers = (struct told_callers){.addresses = array_of(sizeof(uint64_t))};
}

void told_callers_free(struct told_callers *callers)
{
    array_free(&callers->addresses);
}

void told_callers_forget(struct told_callers *callers)
{
    callers->addresses.count = 0;
    callers->expected = 0;
    callers->whole = false;
}

void told_callers_add(struct told_callers *callers, uint64_t payload)
{
    if (told_calls_is_header(payload)) {
        told_callers_forget(callers);
        callers->expected = told_calls_count(payload);
        callers->all = told_calls_all(payload);
        callers->whole = callers->expected == 0;
    } else if (callers->addresses.count < callers->expected) {
        *(uint64_t *)array_add(&callers->addresses) = payload;
        callers->whole = callers->addresses.count == callers->expected;
    }
}
