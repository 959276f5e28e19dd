#include "output/stack_parts.h"

#include "base/memory.h"
#include "stack/thread_stack.h"

#include <stdlib.h>
#include <string.h>
#include <uthash.h>

/* Of a track: what runs in it, from the beginning of its outermost span on. */
struct running_stack {
    uint32_t depth, deepest;
    uint64_t start;
    uint32_t number;                              /* span_event.stack; 0: not known */
    const struct span_function *outermost, *next; /* and what that called first */
};

/* A number that a stack has. */
struct numbered_stack {
    uint64_t key;
    uint32_t stack; /* place in stack_parts.stacks */
    UT_hash_handle hh;
};

/* All goroutines are called by this function, as their return address says. */
static const char GOROUTINE_ROOT[] = "runtime.goexit";

struct stack_parts stack_parts_new(size_t tracks)
{
    return (struct stack_parts){
        .stacks = array_of(sizeof(struct known_stack)),
        .tracks = memory_allocate_zeroed((tracks + 1) * sizeof(struct running_stack)),
    };
}

void stack_parts_free(struct stack_parts *parts)
{
    struct numbered_stack *numbered, *next;
    HASH_ITER(hh, parts->numbered, numbered, next)
    {
        HASH_DEL(parts->numbered, numbered);
        free(numbered);
    }
    free(parts->tracks);
    array_free(&parts->stacks);
}

static const char *name_of(const struct running_stack *running)
{
    bool is_goroutine = strcmp(running->outermost->name, GOROUTINE_ROOT) == 0;
    return is_goroutine && running->next ? running->next->name : running->outermost->name;
}

/* The place of the stack that runs in the track. */
static uint32_t place_of(struct stack_parts *parts, uint32_t track)
{
    const struct running_stack *running = &parts->tracks[track];
    const bool is_shared = running->number >= SHARED_STACKS;
    const uint64_t key = (uint64_t)(is_shared ? UINT32_MAX : track) << 32 | running->number;
    struct numbered_stack *found;
    HASH_FIND(hh, parts->numbered, &key, sizeof key, found);
    if (found)
        return found->stack;
    found = memory_allocate_zeroed(sizeof *found);
    found->key = key;
    found->stack = (uint32_t)parts->stacks.count;
    HASH_ADD(hh, parts->numbered, key, sizeof found->key, found);
    *(struct known_stack *)array_add(&parts->stacks) =
        (struct known_stack){.name = name_of(running), .track = track};
    return found->stack;
}

static void enter(struct stack_parts *parts, const struct span_event *event, uint64_t time)
{
    struct running_stack *running = &parts->tracks[event->track];
    if (running->depth == 0)
        *running = (struct running_stack){
            .start = time, .number = event->stack, .outermost = event->function};
    else if (running->depth == 1 && !running->next)
        running->next = event->function;
    if (++running->depth > running->deepest)
        running->deepest = running->depth;
}

static bool leave(struct stack_parts *parts, const struct span_event *event, uint64_t time,
                  struct stack_part *part)
{
    struct running_stack *running = &parts->tracks[event->track];
    if (running->depth == 0)
        return false;
    if (event->stack)
        running->number = event->stack;
    if (--running->depth > 0 || running->number == 0)
        return false;
    *part = (struct stack_part){
        .from = running->start,
        .to = time,
        .stack = place_of(parts, event->track),
        .track = event->track,
    };
    struct known_stack *stack = array_at(&parts->stacks, part->stack);
    if (running->deepest > stack->depth)
        stack->depth = running->deepest;
    return true;
}

bool stack_parts_take(struct stack_parts *parts, const struct span_event *event, uint64_t time,
                      struct stack_part *part)
{
    if (event->kind == SPAN_ENTER)
        enter(parts, event, time);
    return event->kind == SPAN_LEAVE && leave(parts, event, time, part);
}

/* ---- when all are known ---- */

static int compare_numbers(uint64_t left, uint64_t right)
{
    return left < right ? -1 : left > right;
}

static int compare_parts(const void *left, const void *right)
{
    const struct stack_part *a = left, *b = right;
    int order = compare_numbers(a->stack, b->stack);
    if (order == 0)
        order = compare_numbers(a->from, b->from);
    return order ? order : compare_numbers(a->to, b->to);
}

static void sort_parts(struct stack_part *kept, size_t count)
{
    if (count > 0)
        qsort(kept, count, sizeof *kept, compare_parts);
}

static void add_to_sums(struct known_stack *stack, const struct stack_part *part)
{
    if (stack->parts++ == 0)
        stack->first = part->from;
    stack->last = part->to;
    stack->running += part->to - part->from;
}

/* A stack's place now, for sorting. */
struct placed {
    uint64_t running;
    uint32_t stack;
};

static int compare_running(const void *left, const void *right)
{
    const struct placed *a = left, *b = right;
    int order = compare_numbers(b->running, a->running);
    return order ? order : compare_numbers(a->stack, b->stack);
}

/* Puts the busiest stack first. Returns the new place of each; owned by the caller. */
static uint32_t *sort_stacks(struct array *stacks)
{
    struct placed *order = memory_allocate((stacks->count + 1) * sizeof *order);
    for (size_t i = 0; i < stacks->count; i++) {
        const struct known_stack *stack = array_at(stacks, i);
        order[i] = (struct placed){stack->running, (uint32_t)i};
    }
    qsort(order, stacks->count, sizeof *order, compare_running);
    uint32_t *places = memory_allocate((stacks->count + 1) * sizeof *places);
    struct array sorted = array_of(sizeof(struct known_stack));
    for (size_t i = 0; i < stacks->count; i++) {
        array_add_all(&sorted, array_at(stacks, order[i].stack), 1);
        places[order[i].stack] = (uint32_t)i;
    }
    free(order);
    array_free(stacks);
    *stacks = sorted;
    return places;
}

void stack_parts_finish(struct stack_parts *parts, struct stack_part *kept, size_t count)
{
    sort_parts(kept, count);
    for (size_t i = 0; i < count; i++) {
        const struct stack_part *next = i + 1 < count ? &kept[i + 1] : NULL;
        if (next && next->stack == kept[i].stack && next->from < kept[i].to)
            kept[i].to = next->from;
        add_to_sums(array_at(&parts->stacks, kept[i].stack), &kept[i]);
    }
    uint32_t *places = sort_stacks(&parts->stacks);
    for (size_t i = 0; i < count; i++)
        kept[i].stack = places[kept[i].stack];
    free(places);
    sort_parts(kept, count);
}
