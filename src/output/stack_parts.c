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
    uint32_t number;         /* span_event.stack; 0: not known */
    uint32_t resumed_number; /* the stack of this track that another one has resumed; 0: none */
    uint64_t resumed_time;
    const struct span_function *outermost, *next; /* and what that called first */
};

/* A number that a stack has. */
struct numbered_stack {
    uint64_t key;
    uint32_t stack; /* place in stack_parts.stacks */
    uint32_t track; /* where it was resumed last, or first ran */
    uint64_t first_resumed;
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

static uint64_t key_of(uint32_t track, uint32_t number)
{
    return (uint64_t)(number >= SHARED_STACKS ? UINT32_MAX : track) << 32 | number;
}

static struct numbered_stack *find(const struct stack_parts *parts, uint32_t track, uint32_t number)
{
    const uint64_t key = key_of(track, number);
    struct numbered_stack *found;
    HASH_FIND(hh, parts->numbered, &key, sizeof key, found);
    return found;
}

static struct numbered_stack *find_or_add(struct stack_parts *parts, uint32_t track,
                                          uint32_t number, uint64_t time)
{
    struct numbered_stack *found = find(parts, track, number);
    if (found)
        return found;
    found = memory_allocate_zeroed(sizeof *found);
    *found = (struct numbered_stack){
        .key = key_of(track, number),
        .stack = (uint32_t)parts->stacks.count,
        .track = track,
        .first_resumed = time,
    };
    HASH_ADD(hh, parts->numbered, key, sizeof found->key, found);
    *(struct known_stack *)array_add(&parts->stacks) = (struct known_stack){.name = "", .track = track};
    return found;
}

/* The stack runs in this track from now on: not in the one any more that shows it still. */
static void resume(struct stack_parts *parts, uint32_t track, uint32_t number, uint64_t time)
{
    struct numbered_stack *stack = find_or_add(parts, track, number, time);
    struct running_stack *left = &parts->tracks[stack->track];
    if (stack->track != track && left->depth > 0 && left->resumed_number == 0) {
        left->resumed_number = number;
        left->resumed_time = time;
    }
    stack->track = track;
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
    if (event->stack)
        resume(parts, event->track, event->stack, time);
}

static const char *name_of(const struct running_stack *running)
{
    bool is_goroutine = strcmp(running->outermost->name, GOROUTINE_ROOT) == 0;
    return is_goroutine && running->next ? running->next->name : running->outermost->name;
}

/* When the stack that this track shows until `time` was resumed by another one, at the latest. */
static uint64_t end_of(const struct running_stack *running, const struct numbered_stack *stack,
                       uint32_t track, uint64_t time)
{
    uint64_t end = time;
    if (running->resumed_number == running->number && running->resumed_time < end)
        end = running->resumed_time;
    /* Its number was not known before. */
    if (stack->track != track && stack->first_resumed > running->start &&
        stack->first_resumed < end)
        end = stack->first_resumed;
    return end;
}

static void add_to_sums(struct known_stack *stack, const struct stack_part *part,
                        const struct running_stack *running)
{
    if (stack->parts++ == 0) {
        stack->name = name_of(running);
        stack->first = part->from;
        stack->track = part->track;
    }
    if (part->from < stack->first)
        stack->first = part->from;
    if (part->to > stack->last)
        stack->last = part->to;
    stack->running += part->to - part->from;
    if (running->deepest > stack->depth)
        stack->depth = running->deepest;
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
    const struct numbered_stack *stack =
        find_or_add(parts, event->track, running->number, running->start);
    *part = (struct stack_part){
        .from = running->start,
        .to = end_of(running, stack, event->track, time),
        .stack = stack->stack,
        .track = event->track,
    };
    add_to_sums(array_at(&parts->stacks, stack->stack), part, running);
    return true;
}

bool stack_parts_take(struct stack_parts *parts, const struct span_event *event, uint64_t time,
                      struct stack_part *part)
{
    if (event->kind == SPAN_ENTER)
        enter(parts, event, time);
    return event->kind == SPAN_LEAVE && leave(parts, event, time, part);
}

struct placed {
    uint64_t running;
    uint32_t stack;
};

static int compare_running(const void *left, const void *right)
{
    const struct placed *a = left, *b = right;
    if (a->running != b->running)
        return a->running > b->running ? -1 : 1;
    return a->stack < b->stack ? -1 : a->stack > b->stack;
}

uint32_t *stack_parts_sort(struct stack_parts *parts)
{
    size_t count = parts->stacks.count;
    struct placed *order = memory_allocate((count + 1) * sizeof *order);
    struct known_stack *stacks = parts->stacks.elements;
    for (size_t i = 0; i < count; i++)
        order[i] = (struct placed){stacks[i].running, (uint32_t)i};
    qsort(order, count, sizeof *order, compare_running);
    uint32_t *places = memory_allocate((count + 1) * sizeof *places);
    struct array sorted = array_of(sizeof(struct known_stack));
    for (size_t i = 0; i < count; i++) {
        *(struct known_stack *)array_add(&sorted) = stacks[order[i].stack];
        places[order[i].stack] = (uint32_t)i;
    }
    free(order);
    array_free(&parts->stacks);
    parts->stacks = sorted;
    return places;
}
