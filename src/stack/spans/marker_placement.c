#include "stack/spans/marker_placement.h"

#include "stack/spans/timestamp_disambiguation.h"

#include <stdlib.h>

/* A position in the thread's history. */
struct walk {
    const struct thread_stack *stack;
    struct timestamp_disambiguation disambiguation;
    const struct placed_step *next; /* NULL at the end */
    uint64_t place;                 /* of the newest step that was passed; 0: none */
};

static void go_on(struct walk *walk)
{
    walk->place = walk->next->place.value;
    walk->next = disambiguation_next(&walk->disambiguation);
}

/* True if the next step begins a function at `address`. */
static bool is_call_of(const struct walk *walk, uint64_t address)
{
    const struct history_step *step = &walk->next->step;
    switch (step->kind) {
    case HISTORY_BEGIN:
    case HISTORY_BEGIN_SEEN:
    case HISTORY_ENTER:
    case HISTORY_ENTER_MOVABLE:
    case HISTORY_REPLACE:
        return address != 0 && frame_tree_start(&walk->stack->tree, step->frame) == address;
    default:
        return false;
    }
}

static void place_hit(struct walk *walk, struct session_hit *hit)
{
    while (walk->next != NULL && walk->next->time.value < hit->time)
        go_on(walk);
    bool found = false;
    while (!found && walk->next != NULL && walk->next->time.value == hit->time) {
        found = is_call_of(walk, hit->address);
        go_on(walk);
    }
    if (walk->place > hit->time)
        hit->time = walk->place;
}

static int by_time(const void *left, const void *right)
{
    uint64_t first = (*(struct session_hit *const *)left)->time;
    uint64_t second = (*(struct session_hit *const *)right)->time;
    return (first > second) - (first < second);
}

void marker_placement_find(const struct thread_stack *stack, const struct clock_conversion *clock,
                           struct session_hit **hits, size_t count)
{
    struct walk walk = {.stack = stack,
                        .disambiguation = disambiguation_of(&stack->history, clock)};
    walk.next = disambiguation_next(&walk.disambiguation);
    if (count > 0)
        qsort(hits, count, sizeof *hits, by_time);
    for (size_t i = 0; i < count; i++)
        place_hit(&walk, hits[i]);
}
