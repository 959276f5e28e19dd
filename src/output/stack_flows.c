#include "output/stack_flows.h"

#include "base/memory.h"

#include <stdlib.h>
#include <uthash.h>

struct stack_flow {
    uint64_t stack; /* its number and its track's */
    uint64_t number;
    UT_hash_handle hh;
};

static struct stack_flow *find(const struct stack_flows *flows, const struct span_event *event)
{
    uint64_t stack = (uint64_t)event->track << 32 | event->stack;
    struct stack_flow *found;
    HASH_FIND(hh, flows->waiting, &stack, sizeof stack, found);
    return found;
}

uint64_t stack_flows_begin(struct stack_flows *flows, const struct span_event *leave)
{
    if (leave->stack == 0)
        return 0;
    struct stack_flow *flow = find(flows, leave);
    if (!flow) {
        flow = memory_allocate_zeroed(sizeof *flow);
        flow->stack = (uint64_t)leave->track << 32 | leave->stack;
        HASH_ADD(hh, flows->waiting, stack, sizeof flow->stack, flow);
    }
    return flow->number = ++flows->count;
}

uint64_t stack_flows_end(struct stack_flows *flows, const struct span_event *enter)
{
    struct stack_flow *flow = enter->stack ? find(flows, enter) : NULL;
    if (!flow)
        return 0;
    uint64_t number = flow->number;
    HASH_DEL(flows->waiting, flow);
    free(flow);
    return number;
}

void stack_flows_free(struct stack_flows *flows)
{
    struct stack_flow *flow, *next;
    HASH_ITER(hh, flows->waiting, flow, next)
    {
        HASH_DEL(flows->waiting, flow);
        free(flow);
    }
}
