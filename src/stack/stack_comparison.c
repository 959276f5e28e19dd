#include "stack/stack_comparison.h"

#include "stack/rules/setjmp_calls.h"
#include "stack/rules/unwind_targets.h"

/* The maximum number of comparisons of two frames per segment. */
enum { COMPARISON_LIMIT = 1 << 22 };

static struct chain chain_of(const struct thread_stack *stack, frame_id leaf)
{
    struct chain chain = {.frames = array_of(sizeof(frame_id))};
    frame_id id = leaf;
    for (; thread_stack_frame(stack, id)->kind != FRAME_PLACEHOLDER;
         id = thread_stack_parent(stack, id))
        *(frame_id *)array_add(&chain.frames) = id;
    chain.top = id;
    return chain;
}

/* A discovered caller is known as a function, even if it is a signal handler. */
static bool may_be_one_kind(enum frame_kind left, enum frame_kind right)
{
    return left == right || left == FRAME_FUNCTION || right == FRAME_FUNCTION;
}

/* Whether two frames may be the same. The return address may be unknown of the outermost frame, and
 * of one that was outermost until its stack was joined with another. */
static bool may_be_one(struct comparison *comparison, size_t before, size_t after)
{
    const struct frame_tree *tree = &comparison->stack->tree;
    frame_id left_id = chain_at(&comparison->before, before);
    frame_id right_id = chain_at(&comparison->after, after);
    const struct frame *left = frame_tree_at(tree, left_id);
    const struct frame *right = frame_tree_at(tree, right_id);
    comparison->done++;
    if (left->function != right->function || !may_be_one_kind(left->kind, right->kind))
        return false;
    uint64_t left_return = frame_tree_return_address(tree, left_id);
    uint64_t right_return = frame_tree_return_address(tree, right_id);
    return left_return == right_return || left_return == 0 || right_return == 0;
}

size_t stack_comparison_count_agreeing(struct comparison *comparison, size_t before, size_t after)
{
    if (!may_be_one(comparison, before, after))
        return 0;
    size_t count = 1;
    while (count <= before && count <= after && comparison->done < COMPARISON_LIMIT &&
           may_be_one(comparison, before - count, after - count))
        count++;
    return count;
}

static void try_meeting(struct comparison *comparison, size_t before, size_t after,
                        struct meeting *best)
{
    size_t agreeing = stack_comparison_count_agreeing(comparison, before, after);
    if (agreeing > best->agreeing)
        *best = (struct meeting){before, after, agreeing};
}

/* Whether control can have continued in this frame of the stack before. */
static bool can_be_landed_in(struct comparison *comparison, size_t before)
{
    const struct segment *segment = comparison->segment;
    if (!unwind_target_pointers_in_range(&comparison->range, before))
        return false;
    return !segment->called ||
           unwind_targets_may_have_called(comparison->stack, chain_at(&comparison->before, before),
                                          segment->landed.address);
}

/* Both chains are known up to a function without a caller, so they are aligned there. */
static struct meeting find_common_callers(struct comparison *comparison)
{
    size_t before = comparison->before.frames.count, after = comparison->after.frames.count;
    struct meeting meeting = {before - 1, after - 1, 0};
    meeting.agreeing = stack_comparison_count_agreeing(comparison, before - 1, after - 1);
    return meeting;
}

static bool are_whole(const struct comparison *comparison)
{
    const struct frame_tree *tree = &comparison->stack->tree;
    return comparison->segment->start == SEGMENT_GAP &&
           frame_tree_is_outermost(tree, comparison->before.top) &&
           frame_tree_is_outermost(tree, comparison->after.top);
}

struct meeting stack_comparison_find_meeting(struct comparison *comparison, bool whole)
{
    if (are_whole(comparison))
        return find_common_callers(comparison);
    struct meeting best = {.agreeing = 0};
    size_t before_count = comparison->before.frames.count;
    size_t after_count = comparison->after.frames.count;
    for (size_t i = whole ? after_count - 1 : 0;
         i < before_count && comparison->done < COMPARISON_LIMIT; i++) {
        struct meeting here = {.agreeing = 0};
        try_meeting(comparison, i, after_count - 1, &here);
        bool fits = !whole || (here.agreeing == after_count &&
                               can_be_landed_in(comparison, i + 1 - after_count));
        if (fits && here.agreeing > best.agreeing)
            best = here;
    }
    for (size_t i = 0; i + 1 < after_count && comparison->done < COMPARISON_LIMIT; i++) {
        struct meeting here = {.agreeing = 0};
        try_meeting(comparison, before_count - 1, i, &here);
        bool fits = !whole || (here.agreeing == i + 1 && i < before_count &&
                               can_be_landed_in(comparison, before_count - 1 - i));
        if (fits && here.agreeing > best.agreeing)
            best = here;
    }
    return best;
}

bool stack_comparison_are_alike(const struct thread_stack *stack, frame_id one, frame_id other)
{
    const struct frame_tree *tree = &stack->tree;
    while (one != other) {
        const struct frame *first = thread_stack_frame(stack, one);
        const struct frame *second = thread_stack_frame(stack, other);
        if (first->kind != second->kind || first->function != second->function ||
            first->kind == FRAME_PLACEHOLDER ||
            frame_tree_return_address(tree, one) != frame_tree_return_address(tree, other))
            return false;
        one = thread_stack_parent(stack, one);
        other = thread_stack_parent(stack, other);
    }
    return true;
}

frame_id stack_comparison_join(const struct comparison *comparison, const struct meeting *meeting)
{
    struct thread_stack *stack = comparison->stack;
    frame_id before = chain_at(&comparison->before, meeting->before);
    frame_id after = chain_at(&comparison->after, meeting->after);
    if (meeting->after + 1 == comparison->after.frames.count) {
        frame_tree_learn_return(&stack->tree, after,
                                frame_tree_return_address(&stack->tree, before));
        frame_tree_link(&stack->tree, comparison->after.top, thread_stack_parent(stack, before));
        return comparison->after.top;
    }
    frame_tree_learn_return(&stack->tree, before, frame_tree_return_address(&stack->tree, after));
    frame_tree_link(&stack->tree, comparison->before.top, thread_stack_parent(stack, after));
    return comparison->before.top;
}

void stack_comparison_keep(const struct comparison *comparison, const struct meeting *meeting,
                           struct segment *segment)
{
    size_t inwards = meeting->agreeing - 1;
    segment->kept = chain_at(&comparison->before, meeting->before - inwards);
    segment->kept_as = chain_at(&comparison->after, meeting->after - inwards);
}

void stack_comparison_end(struct comparison *comparison)
{
    array_free(&comparison->before.frames);
    array_free(&comparison->after.frames);
}

static struct unwind_range find_range(const struct thread_stack *stack,
                                      const struct segment *segment, frame_id before)
{
    struct unwind_range range = unwind_target_pointers_range(stack, before, segment->landed);
    if (segment->start == SEGMENT_UNWIND && segment->landed.pointer == 0)
        range.except = setjmp_calls_exception(stack, segment - 1, before, segment->landed.address);
    return range;
}

struct comparison stack_comparison_begin(struct thread_stack *stack, const struct segment *segment,
                                         frame_id before)
{
    return (struct comparison){
        .stack = stack,
        .segment = segment,
        .before = chain_of(stack, before),
        .after = chain_of(stack, segment->leaf),
        .range = find_range(stack, segment, before),
    };
}

struct meeting stack_comparison_find_parting(struct comparison *comparison)
{
    size_t before = comparison->before.frames.count - 1;
    size_t after = comparison->after.frames.count - 1;
    while (before > 0 && after > 0 &&
           chain_at(&comparison->before, before) == chain_at(&comparison->after, after)) {
        before--;
        after--;
    }
    size_t agreeing = stack_comparison_count_agreeing(comparison, before, after);
    if (agreeing > 0)
        return (struct meeting){before, after, agreeing};
    return (struct meeting){before + 1, after + 1, 1};
}
