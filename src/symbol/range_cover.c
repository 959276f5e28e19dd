#include "symbol/range_cover.h"

#include "base/memory.h"
#include "base/number_order.h"

#include <stdlib.h>

/* The ranges that have begun, highest rank on top. Ranges that have ended are removed when they
 * reach the top. */
struct heap {
    const struct ranked_range **ranges;
    size_t count;
};

static void heap_push(struct heap *heap, const struct ranked_range *range)
{
    size_t at = heap->count++;
    while (at > 0 && heap->ranges[(at - 1) / 2]->rank < range->rank) {
        heap->ranges[at] = heap->ranges[(at - 1) / 2];
        at = (at - 1) / 2;
    }
    heap->ranges[at] = range;
}

static void heap_pop(struct heap *heap)
{
    const struct ranked_range *moved = heap->ranges[--heap->count];
    size_t at = 0;
    for (;;) {
        size_t child = 2 * at + 1;
        if (child >= heap->count)
            break;
        if (child + 1 < heap->count && heap->ranges[child + 1]->rank > heap->ranges[child]->rank)
            child++;
        if (heap->ranges[child]->rank <= moved->rank)
            break;
        heap->ranges[at] = heap->ranges[child];
        at = child;
    }
    heap->ranges[at] = moved;
}

static struct numbered *order_by_start(const struct ranked_range *ranges, size_t count)
{
    struct numbered *order = memory_allocate(count * sizeof *order);
    for (size_t i = 0; i < count; i++)
        order[i] = (struct numbered){ranges[i].start, i};
    number_order(order, count);
    return order;
}

static void add_covered(struct array *covered, uint64_t start, uint64_t end, uint32_t owner)
{
    if (covered->count > 0) {
        struct covered_range *last = array_at(covered, covered->count - 1);
        if (last->owner == owner && last->end == start) {
            last->end = end;
            return;
        }
    }
    *(struct covered_range *)array_add(covered) = (struct covered_range){start, end, owner};
}

struct array range_cover(const struct ranked_range *ranges, size_t count)
{
    struct array covered = array_of(sizeof(struct covered_range));
    array_reserve(&covered, count);
    struct heap begun = {.ranges = memory_allocate(count * sizeof *begun.ranges)};
    struct numbered *order = order_by_start(ranges, count);

    uint64_t at = 0;
    size_t next = 0;
    while (next < count || begun.count > 0) {
        if (begun.count == 0)
            at = order[next].number;
        while (next < count && order[next].number <= at)
            heap_push(&begun, &ranges[order[next++].index]);
        while (begun.count > 0 && begun.ranges[0]->end <= at)
            heap_pop(&begun);
        if (begun.count == 0)
            continue;
        const struct ranked_range *top = begun.ranges[0];
        uint64_t end = top->end;
        if (next < count && order[next].number < end)
            end = order[next].number;
        add_covered(&covered, at, end, top->owner);
        at = end;
    }
    free(order);
    free(begun.ranges);
    return covered;
}
