#include "stack/migrated_stacks.h"

#include "base/memory.h"
#include "stack/rules/goroutines.h"
#include "stack/stitching.h"

#include <stdlib.h>
#include <uthash.h>

/* Where a goroutine leaves a thread or arrives in one. */
struct end {
    struct goroutine_moment moment;
    struct thread_stack *stack;
};

static int compare_numbers(uint64_t left, uint64_t right)
{
    return left < right ? -1 : left > right;
}

static int compare_times(const void *left_pointer, const void *right_pointer)
{
    const struct end *left = left_pointer, *right = right_pointer;
    return compare_numbers(left->moment.time.value, right->moment.time.value);
}

static int compare_pointers_and_times(const void *left_pointer, const void *right_pointer)
{
    const struct end *left = left_pointer, *right = right_pointer;
    int order = compare_numbers(left->moment.pointer, right->moment.pointer);
    return order != 0 ? order : compare_times(left_pointer, right_pointer);
}

static void collect(struct array *ends, struct thread_stack *stack, const struct array *moments)
{
    for (size_t i = 0; i < moments->count; i++)
        *(struct end *)array_add(ends) =
            (struct end){*(const struct goroutine_moment *)array_at(moments, i), stack};
}

static void sort(struct array *ends, int (*compare)(const void *, const void *))
{
    if (ends->count > 0)
        qsort(ends->elements, ends->count, ends->element_size, compare);
}

/* The newest of `departures` (sorted by pointer and time) from which `arrival` can come; NULL:
 * none. */
static const struct end *find_departure(const struct array *departures, const struct end *arrival)
{
    size_t low = 0, high = departures->count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (compare_pointers_and_times(array_at(departures, middle), arrival) <= 0)
            low = middle + 1;
        else
            high = middle;
    }
    const struct end *found = low > 0 ? array_at(departures, low - 1) : NULL;
    return found != NULL && found->moment.pointer == arrival->moment.pointer ? found : NULL;
}

static bool is_known(const struct end *end)
{
    return thread_stack_frame(end->stack, end->moment.frame)->kind != FRAME_PLACEHOLDER;
}

static void go_out(struct end *end)
{
    end->moment.frame = thread_stack_parent(end->stack, end->moment.frame);
}

/* Goes outwards in both stacks, as far as both are known. False if they differ. */
static bool go_to_end_of_common(struct end *left, struct end *right)
{
    for (; is_known(left) && is_known(right); go_out(left), go_out(right))
        if (thread_stack_frame(left->stack, left->moment.frame)->function !=
            thread_stack_frame(right->stack, right->moment.frame)->function)
            return false;
    return true;
}

/* Adds the frame at `from` to the tree of `to`, as a callee of `caller`. */
static frame_id copy_frame(struct thread_stack *to, frame_id caller, const struct end *from)
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
static frame_id copy_chain(struct thread_stack *to, struct end from)
{
    struct array chain = array_of(sizeof(struct end));
    for (; is_known(&from); go_out(&from))
        *(struct end *)array_add(&chain) = from;
    frame_id copy = FRAME_NONE;
    if (!frame_tree_full(&to->tree))
        copy = frame_tree_add_placeholder(&to->tree);
    for (size_t i = chain.count; i-- > 0 && copy != FRAME_NONE;)
        copy = frame_tree_full(&to->tree) ? FRAME_NONE : copy_frame(to, copy, array_at(&chain, i));
    array_free(&chain);
    return copy;
}

/* The callers that `placeholder` stands for are those from `known` on. */
static void extend(const struct end *placeholder, const struct end *known)
{
    struct thread_stack *stack = placeholder->stack;
    frame_id unknown = placeholder->moment.frame, caller = known->moment.frame;
    if (known->stack != stack)
        caller = copy_chain(stack, *known);
    else if (thread_stack_parent(stack, frame_tree_root(&stack->tree, caller)) == unknown)
        return; /* damaged data: the stack would be its own caller */
    if (caller != FRAME_NONE)
        frame_tree_link(&stack->tree, unknown, caller);
}

/* False: they are not the same stack. */
static bool migrate(const struct end *arrival, const struct end *departure)
{
    struct end there = *departure, here = *arrival;
    if (!go_to_end_of_common(&there, &here))
        return false;
    if (is_known(&there))
        extend(&here, &there);
    else if (is_known(&here))
        extend(&there, &here);
    return true;
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
    uint32_t number;
    UT_hash_handle hh;
};

static struct numbered *numbered_at(struct numbering *numbering, const struct end *end)
{
    struct end outermost = *end;
    while (is_known(&outermost))
        go_out(&outermost);
    const struct numbered_stack key = {end->stack, outermost.moment.frame};
    struct numbered *found;
    HASH_FIND(hh, numbering->numbered, &key, sizeof key, found);
    if (found)
        return found;
    found = memory_allocate_zeroed(sizeof *found);
    found->key = key;
    HASH_ADD(hh, numbering->numbered, key, sizeof found->key, found);
    return found;
}

/* The stack that left is the one that arrived. A stack may run in more threads than these. */
static void number_pair(struct numbering *numbering, const struct end *departure,
                        const struct end *arrival)
{
    struct numbered *there = numbered_at(numbering, departure);
    struct numbered *here = numbered_at(numbering, arrival);
    uint32_t number = there->number ? there->number : here->number;
    if (!number)
        number = SHARED_STACKS + (*numbering->used)++;
    there->number = number;
    here->number = here->number ? here->number : number;
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
        *shared = (struct shared_stack){(frame_id)numbered->key.placeholder, numbered->number};
        HASH_DEL(numbering->numbered, numbered);
        free(numbered);
    }
    for (size_t i = 0; i < count; i++)
        sort(&stacks[i]->shared, compare_shared);
}

/* When all are joined, since the placeholders change with the callers. */
static void number_all(const struct array *joined, struct thread_stack *const *stacks, size_t count,
                       uint32_t *used)
{
    struct numbering numbering = {.used = used};
    for (size_t i = 0; i < joined->count; i++) {
        const struct end *const *pair = array_at(joined, i);
        if (*used < UINT32_MAX - SHARED_STACKS)
            number_pair(&numbering, pair[0], pair[1]);
    }
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

/* `joined`: of pairs of const struct end *, where a stack left and where it arrived. */
static void migrate_all(const struct array *arrivals, const struct array *departures,
                        struct array *joined)
{
    for (size_t i = 0; i < arrivals->count; i++) {
        const struct end *arrival = array_at(arrivals, i);
        const struct end *departure = find_departure(departures, arrival);
        if (departure != NULL && migrate(arrival, departure))
            array_add_all(joined, (const struct end *[]){departure, arrival}, 1);
    }
}

void migrated_stacks_join(struct thread_stack *const *stacks, size_t count, uint32_t *number)
{
    struct array joined = array_of(2 * sizeof(const struct end *));
    struct array arrivals = array_of(sizeof(struct end));
    struct array departures = array_of(sizeof(struct end));
    for (size_t i = 0; i < count; i++) {
        collect(&arrivals, stacks[i], goroutines_arrivals(stacks[i]));
        collect(&departures, stacks[i], goroutines_departures(stacks[i]));
    }
    sort(&arrivals, compare_times);
    sort(&departures, compare_pointers_and_times);
    if (arrivals.count > 0) {
        recount(stacks, count, true);
        migrate_all(&arrivals, &departures, &joined);
        recount(stacks, count, false);
        number_all(&joined, stacks, count, number);
    }
    array_free(&joined);
    array_free(&arrivals);
    array_free(&departures);
}
