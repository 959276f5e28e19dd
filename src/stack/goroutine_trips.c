#include "stack/goroutine_trips.h"

#include <stdlib.h>

/* ---- the ends, in order ---- */

static int compare_numbers(uint64_t left, uint64_t right)
{
    return left < right ? -1 : left > right;
}

/* Those of one thread have an order. */
static int compare_ends(const void *left_pointer, const void *right_pointer)
{
    const struct trip_end *left = left_pointer, *right = right_pointer;
    int order = compare_numbers(left->moment.pointer, right->moment.pointer);
    if (order == 0)
        order = compare_numbers(left->moment.time.value, right->moment.time.value);
    if (order == 0)
        order = compare_numbers((uintptr_t)left->stack, (uintptr_t)right->stack);
    return order != 0 ? order : compare_numbers(left->order, right->order);
}

static int compare_arrivals(const void *left_pointer, const void *right_pointer)
{
    const struct trip *left = left_pointer, *right = right_pointer;
    int order = compare_numbers(left->to.moment.time.value, right->to.moment.time.value);
    if (order == 0)
        order = compare_numbers((uintptr_t)left->to.stack, (uintptr_t)right->to.stack);
    return order != 0 ? order : compare_numbers(left->to.order, right->to.order);
}

static void sort(struct array *all, int (*compare)(const void *, const void *))
{
    if (all->count > 0)
        qsort(all->elements, all->count, all->element_size, compare);
}

static struct ticks limit_of(const struct thread_stack *stack, size_t index)
{
    const struct array *moments = goroutines_moments(stack);
    const struct goroutine_moment *moment = array_at(moments, index);
    if (moment->kind == GOROUTINE_ARRIVES)
        return index + 1 < moments->count ? moment[1].time : stack->now;
    return index > 0 ? moment[-1].time : stack->history.first;
}

static bool arrives(const struct trip_end *end)
{
    return end->moment.kind == GOROUTINE_ARRIVES;
}

static void collect(struct array *ends, struct thread_stack *stack)
{
    const struct array *moments = goroutines_moments(stack);
    for (size_t i = 0; i < moments->count; i++) {
        const struct goroutine_moment *moment = array_at(moments, i);
        if (moment->kind != GOROUTINE_BEGINS)
            *(struct trip_end *)array_add(ends) = (struct trip_end){
                .moment = *moment, .stack = stack, .order = i, .limit = limit_of(stack, i)};
    }
}

/* ---- whether two can be the same stack ---- */

static bool is_known(const struct trip_end *end)
{
    return thread_stack_frame(end->stack, end->moment.frame)->kind != FRAME_PLACEHOLDER;
}

static bool are_same(const struct trip_end *left, const struct trip_end *right)
{
    uint64_t left_return = frame_tree_return_address(&left->stack->tree, left->moment.frame);
    uint64_t right_return = frame_tree_return_address(&right->stack->tree, right->moment.frame);
    return thread_stack_frame(left->stack, left->moment.frame)->function ==
               thread_stack_frame(right->stack, right->moment.frame)->function &&
           (left_return == 0 || right_return == 0 || left_return == right_return);
}

static void go_out(struct trip_end *end)
{
    end->moment.frame = thread_stack_parent(end->stack, end->moment.frame);
}

bool goroutine_trips_agree(struct trip_end *from, struct trip_end *to, struct trip_inner *inner)
{
    *inner = (struct trip_inner){FRAME_NONE, FRAME_NONE};
    for (; is_known(from) && is_known(to); go_out(from), go_out(to)) {
        if (!are_same(from, to))
            return false;
        *inner = (struct trip_inner){from->moment.frame, to->moment.frame};
    }
    return true;
}

static bool agree(const struct trip_end *departure, const struct trip_end *arrival)
{
    struct trip_end from = *departure, to = *arrival;
    struct trip_inner inner;
    return goroutine_trips_agree(&from, &to, &inner);
}

/* ---- the order in which things of the same time have happened ---- */

/* Ends of one thread, of the same time and pointer. */
struct run {
    const struct trip_end *next, *end;
};

/* The run whose next end is of the kind that is expected; of several, the longest, so that it is not what remains when nothing
 * is left that it could alternate with. */
static struct run *choose(const struct array *runs, bool arrival)
{
    struct run *chosen = NULL;
    bool chosen_fits = false;
    for (size_t i = 0; i < runs->count; i++) {
        struct run *run = array_at(runs, i);
        if (run->next == run->end)
            continue;
        bool fits = arrives(run->next) == arrival;
        bool longer = chosen == NULL || run->end - run->next > chosen->end - chosen->next;
        if (chosen == NULL || (fits && !chosen_fits) || (fits == chosen_fits && longer)) {
            chosen = run;
            chosen_fits = fits;
        }
    }
    return chosen;
}

/* Several threads have done these at one time, for the clock stands still while code is translated: in an order in which
 * departures and arrivals alternate. `arrival`: the first one is expected to be one. */
static void order_moment(struct trip_end *first, const struct trip_end *end, bool arrival)
{
    struct array copy = array_of(sizeof(struct trip_end)), runs = array_of(sizeof(struct run));
    array_add_all(&copy, first, (size_t)(end - first));
    const struct trip_end *next = copy.elements, *last = next + copy.count;
    while (next < last) {
        struct run run = {next, next};
        while (run.end < last && run.end->stack == next->stack)
            run.end++;
        *(struct run *)array_add(&runs) = run;
        next = run.end;
    }
    for (; first < end; first++) {
        struct run *run = choose(&runs, arrival);
        *first = *run->next++;
        arrival = !arrives(first);
    }
    array_free(&runs);
    array_free(&copy);
}

static void order_moments(struct trip_end *first, struct trip_end *end)
{
    bool arrival = false;
    for (struct trip_end *next = first; next < end; first = next) {
        while (next < end && next->moment.time.value == first->moment.time.value)
            next++;
        if (first->stack != next[-1].stack)
            order_moment(first, next, arrival);
        arrival = !arrives(&next[-1]);
    }
}

/* ---- the ends with one stack pointer ---- */

struct ends {
    struct trip_end *first, *end;
    struct array open; /* struct trip_end *: departures without an arrival so far */
};

/* The newest departure before the arrival; NULL: none is left. */
static struct trip_end *take_open(struct ends *ends, const struct trip_end *arrival)
{
    struct trip_end **open = ends->open.elements;
    for (size_t i = ends->open.count; i-- > 0;) {
        struct trip_end *departure = open[i];
        if (!agree(departure, arrival))
            continue;
        ends->open.count--;
        for (; i < ends->open.count; i++)
            open[i] = open[i + 1];
        return departure;
    }
    return NULL;
}

/* No arrival needs it: another departure is open, or next to it. */
static bool is_left_over(const struct ends *ends, const struct trip_end *departure)
{
    return ends->open.count > 0 || departure + 1 == ends->end || !arrives(&departure[1]) ||
           (!arrives(&departure[-1]) && !departure[-1].used);
}

static bool can_be_earlier(const struct trip_end *departure, const struct trip_end *arrival)
{
    return departure->limit.value <= arrival->limit.value && agree(departure, arrival);
}

/* How many ends are looked at for one. Two goroutines that wake each other make some hundred in a millisecond. */
enum { LOOK_AHEAD = 4096 };

/* A departure after the arrival that may have happened before it; NULL: not found. */
static struct trip_end *take_later(const struct ends *ends, const struct trip_end *arrival)
{
    const struct thread_stack *passed = arrival->stack;
    for (const struct trip_end *end = arrival + 1; end < ends->end && end - arrival < LOOK_AHEAD;
         end++) {
        struct trip_end *departure = ends->first + (end - ends->first);
        if (end->stack == passed || arrives(end) || end->used)
            continue;
        if (is_left_over(ends, end) && can_be_earlier(end, arrival)) {
            departure->used = true;
            return departure;
        }
    }
    return NULL;
}

static void find_in(struct ends *ends, struct array *trips)
{
    ends->open.count = 0;
    for (struct trip_end *end = ends->first; end < ends->end; end++) {
        if (!arrives(end)) {
            if (!end->used)
                *(struct trip_end **)array_add(&ends->open) = end;
            continue;
        }
        const struct trip_end *departure = take_open(ends, end);
        if (departure == NULL)
            departure = take_later(ends, end);
        if (departure != NULL)
            *(struct trip *)array_add(trips) = (struct trip){.from = *departure, .to = *end};
    }
}

struct array goroutine_trips_find(struct thread_stack *const *stacks, size_t count)
{
    struct array trips = array_of(sizeof(struct trip)), all = array_of(sizeof(struct trip_end));
    struct ends ends = {.open = array_of(sizeof(struct trip_end *))};
    for (size_t i = 0; i < count; i++)
        collect(&all, stacks[i]);
    sort(&all, compare_ends);
    struct trip_end *first = all.elements, *end = first + all.count;
    for (ends.first = first; ends.first < end; ends.first = ends.end) {
        ends.end = ends.first + 1;
        while (ends.end < end && ends.end->moment.pointer == ends.first->moment.pointer)
            ends.end++;
        order_moments(ends.first, ends.end);
        find_in(&ends, &trips);
    }
    array_free(&ends.open);
    array_free(&all);
    sort(&trips, compare_arrivals);
    return trips;
}
