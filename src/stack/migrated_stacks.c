#include "stack/migrated_stacks.h"

#include "base/memory.h"
#include "stack/goroutine_trips.h"
#include "stack/stitching.h"

#include <stdlib.h>
#include <uthash.h>

static bool is_known(const struct trip_end *end)
{
    return thread_stack_frame(end->stack, end->moment.frame)->kind != FRAME_PLACEHOLDER;
}

static void go_out(struct trip_end *end)
{
    end->moment.frame = thread_stack_parent(end->stack, end->moment.frame);
}

/* Adds the frame at `from` to the tree of `to`, as a callee of `caller`. */
static frame_id copy_frame(struct thread_stack *to, frame_id caller, const struct trip_end *from)
{
    const struct frame_tree *tree = &from->stack->tree;
    const struct frame *frame = frame_tree_at(tree, from->moment.frame);
    struct activation activation = {
        .function = frame->function,
        .kind = frame->kind,
        .return_address = frame_tree_return_address(tree, from->moment.frame),
        .origin = frame_tree_origin(tree, from->moment.frame),
    };
    bool added;
    frame_id copy = frame_tree_child(&to->tree, caller, &activation, &added);
    if (added)
        frame_tree_set_start(&to->tree, copy, frame_tree_start(tree, from->moment.frame));
    return copy;
}

/* Copies the chain of callers of `from` to the tree of `to`. FRAME_NONE: that tree is full. */
static frame_id copy_chain(struct thread_stack *to, struct trip_end from)
{
    struct array chain = array_of(sizeof(struct trip_end));
    for (; is_known(&from); go_out(&from))
        *(struct trip_end *)array_add(&chain) = from;
    frame_id copy = FRAME_NONE;
    if (!frame_tree_full(&to->tree))
        copy = frame_tree_add_placeholder(&to->tree);
    for (size_t i = chain.count; i-- > 0 && copy != FRAME_NONE;)
        copy = frame_tree_full(&to->tree) ? FRAME_NONE : copy_frame(to, copy, array_at(&chain, i));
    array_free(&chain);
    return copy;
}

static frame_id outermost_of(const struct trip_end *end)
{
    struct trip_end outermost = *end;
    while (is_known(&outermost))
        go_out(&outermost);
    return outermost.moment.frame;
}

/* The callers that `placeholder` stands for are those from `known` on; `inner`: what they have called, FRAME_NONE: unknown,
 * and `known_inner` in the stack that knows them. */
static bool extend(const struct trip_end *placeholder, frame_id inner, const struct trip_end *known,
                   frame_id known_inner)
{
    struct thread_stack *stack = placeholder->stack;
    frame_id unknown = placeholder->moment.frame, caller = known->moment.frame;
    if (known->stack == stack && outermost_of(known) == unknown)
        return false; /* it is joined already; or in damaged data the stack would be its own caller */
    if (known->stack != stack)
        caller = copy_chain(stack, *known);
    if (caller == FRAME_NONE)
        return false;
    if (inner != FRAME_NONE)
        frame_tree_learn_return(&stack->tree, inner,
                                frame_tree_return_address(&known->stack->tree, known_inner));
    frame_tree_link(&stack->tree, unknown, caller);
    return true;
}

/* True if one side has learned callers from the other. What neither knows is one caller if it is of one thread: what is
 * learned of it later is learned of both. */
static bool join(const struct trip *trip)
{
    struct trip_end there = trip->from, here = trip->to;
    struct trip_inner inner;
    if (!goroutine_trips_agree(&there, &here, &inner))
        return false;
    if (is_known(&there) || (!is_known(&here) && here.stack == there.stack))
        return extend(&here, inner.to, &there, inner.from);
    return is_known(&here) && extend(&there, inner.from, &here, inner.to);
}

static bool join_if_apart(struct trip *trip)
{
    if (trip->is_joined)
        return false;
    bool learned = join(trip);
    trip->is_joined = learned && trip->from.stack == trip->to.stack;
    return learned;
}

/* Goroutines that have recovered from a panic in callers that were not known then. */
static bool join_unwound(struct thread_stack *const *stacks, size_t count)
{
    bool joined = false;
    for (size_t i = 0; i < count; i++)
        joined |= stitching_join_unwound(stacks[i]);
    return joined;
}

/* Forwards in time, so that a goroutine has its callers wherever it goes; then backwards, for what is discovered late;
 * again while that shows more. */
static void join_all(const struct array *trips, struct thread_stack *const *stacks, size_t count)
{
    enum { ROUNDS = 8 };
    bool learned = true;
    for (unsigned round = 0; learned && round < ROUNDS; round++) {
        learned = false;
        for (size_t i = 0; i < trips->count; i++)
            learned |= join_if_apart(array_at(trips, i));
        for (size_t i = trips->count; i-- > 0;)
            learned |= join_if_apart(array_at(trips, i));
        learned |= join_unwound(stacks, count);
    }
}

/* ---- numbers ---- */

/* A stack of one thread that has a number; without padding, as it is a key. */
struct numbered_stack {
    struct thread_stack *stack;
    uint64_t placeholder; /* frame_id */
};

struct numbering {
    struct numbered *numbered;
    uint32_t *used;
};

struct numbered {
    struct numbered_stack key;
    struct numbered *same; /* has the number; NULL: itself */
    uint32_t number;
    UT_hash_handle hh;
};

static struct numbered *numbered_at(struct numbering *numbering, const struct trip_end *end)
{
    const struct numbered_stack key = {end->stack, outermost_of(end)};
    struct numbered *found;
    HASH_FIND(hh, numbering->numbered, &key, sizeof key, found);
    if (found)
        return found;
    found = memory_allocate_zeroed(sizeof *found);
    found->key = key;
    HASH_ADD(hh, numbering->numbered, key, sizeof found->key, found);
    return found;
}

static struct numbered *owner_of(struct numbered *numbered)
{
    for (; numbered->same != NULL; numbered = numbered->same)
        if (numbered->same->same != NULL)
            numbered->same = numbered->same->same;
    return numbered;
}

/* The stack that left is the one that arrived. A stack may run in more threads than these. */
static void number_trip(struct numbering *numbering, const struct trip *trip)
{
    struct numbered *there = owner_of(numbered_at(numbering, &trip->from));
    struct numbered *here = owner_of(numbered_at(numbering, &trip->to));
    if (here != there)
        here->same = there;
}

/* Stacks are numbered in the order in which they were first met. */
static uint32_t number_of(struct numbering *numbering, struct numbered *numbered)
{
    struct numbered *owner = owner_of(numbered);
    if (owner->number == 0 && *numbering->used < UINT32_MAX - SHARED_STACKS)
        owner->number = SHARED_STACKS + (*numbering->used)++;
    return owner->number;
}

static int compare_shared(const void *left, const void *right)
{
    const struct shared_stack *a = left, *b = right;
    return a->placeholder < b->placeholder ? -1 : a->placeholder > b->placeholder;
}

static void keep_numbers(struct numbering *numbering, struct thread_stack *const *stacks,
                         size_t count)
{
    struct numbered *numbered, *next;
    HASH_ITER(hh, numbering->numbered, numbered, next)
    {
        struct shared_stack *shared = array_add(&numbered->key.stack->shared);
        *shared = (struct shared_stack){(frame_id)numbered->key.placeholder,
                                        number_of(numbering, numbered)};
    }
    HASH_ITER(hh, numbering->numbered, numbered, next)
    {
        HASH_DEL(numbering->numbered, numbered);
        free(numbered);
    }
    for (size_t i = 0; i < count; i++)
        if (stacks[i]->shared.count > 0)
            qsort(stacks[i]->shared.elements, stacks[i]->shared.count,
                  stacks[i]->shared.element_size, compare_shared);
}

static bool is_joined(const struct trip *trip)
{
    struct trip_end there = trip->from, here = trip->to;
    struct trip_inner inner;
    return goroutine_trips_agree(&there, &here, &inner);
}

/* When all are joined, since the placeholders change with the callers. */
static void number_all(const struct array *trips, struct thread_stack *const *stacks, size_t count,
                       uint32_t *used)
{
    struct numbering numbering = {.used = used};
    for (size_t i = 0; i < trips->count; i++)
        if (is_joined(array_at(trips, i)))
            number_trip(&numbering, array_at(trips, i));
    keep_numbers(&numbering, stacks, count);
}

/* Updates the number of spans that are open where stacks begin and continue, which grows with their
 * frames. */
static void recount(struct thread_stack *const *stacks, size_t count, bool before)
{
    for (size_t i = 0; i < count; i++) {
        uint64_t spans = stitching_count_open(stacks[i]);
        stacks[i]->statistics.spans += before ? -spans : spans;
    }
}

void migrated_stacks_join(struct thread_stack *const *stacks, size_t count, uint32_t *number)
{
    struct array trips = goroutine_trips_find(stacks, count);
    if (trips.count > 0) {
        recount(stacks, count, true);
        join_all(&trips, stacks, count);
        recount(stacks, count, false);
        number_all(&trips, stacks, count, number);
    }
    array_free(&trips);
}
