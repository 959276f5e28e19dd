#include "output/stack_flows.h"

#include "base/memory.h"
#include "stack/thread_stack.h"

#include <stdlib.h>
#include <uthash.h>

struct stack_flow {
    uint64_t stack;  /* its number, and its track's unless all share it */
    uint64_t number; /* of the arrow; 0: it runs */
    uint32_t track;  /* where it runs, or ran until it was suspended at ... */
    struct nanoseconds suspended;
    UT_hash_handle hh;
};

static uint64_t key_of(const struct span_event *event)
{
    uint64_t track = event->stack >= SHARED_STACKS ? UINT32_MAX : event->track;
    return track << 32 | event->stack;
}

static struct stack_flow *find(const struct stack_flows *flows, const struct span_event *event)
{
    uint64_t stack = key_of(event);
    struct stack_flow *found;
    HASH_FIND(hh, flows->stacks, &stack, sizeof stack, found);
    return found;
}

static struct stack_flow *find_or_add(struct stack_flows *flows, const struct span_event *event)
{
    struct stack_flow *flow = find(flows, event);
    if (flow)
        return flow;
    flow = memory_allocate_zeroed(sizeof *flow);
    flow->stack = key_of(event);
    flow->track = event->track;
    HASH_ADD(hh, flows->stacks, stack, sizeof flow->stack, flow);
    return flow;
}

uint64_t stack_flows_begin(struct stack_flows *flows, const struct span_event *leave)
{
    if (leave->stack == 0)
        return 0;
    struct stack_flow *flow = find_or_add(flows, leave);
    if (flow->number == 0 && flow->track != leave->track)
        return 0;
    flow->track = leave->track;
    flow->suspended = leave->time;
    return flow->number = ++flows->count;
}

static void forget(struct stack_flows *flows, struct stack_flow *flow)
{
    HASH_DEL(flows->stacks, flow);
    free(flow);
}

static struct stack_origin origin_of(const struct stack_flow *flow, const struct span_event *enter)
{
    if (flow->number)
        return (struct stack_origin){true, flow->number, flow->track, flow->suspended};
    return (struct stack_origin){true, 0, flow->track, enter->time};
}

struct stack_origin stack_flows_end(struct stack_flows *flows, const struct span_event *enter)
{
    struct stack_origin origin = {.known = false};
    struct stack_flow *flow = enter->stack ? find(flows, enter) : NULL;
    if (flow)
        origin = origin_of(flow, enter);
    if (flow && enter->stack < SHARED_STACKS) {
        forget(flows, flow);
    } else if (enter->stack >= SHARED_STACKS) {
        flow = find_or_add(flows, enter);
        flow->number = 0;
        flow->track = enter->track;
    }
    return origin;
}

void stack_flows_free(struct stack_flows *flows)
{
    struct stack_flow *flow, *next;
    HASH_ITER(hh, flows->stacks, flow, next)
    {
        forget(flows, flow);
    }
}
