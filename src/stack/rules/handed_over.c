#include "stack/rules/handed_over.h"

#include "stack/rules/suspended_stacks.h"

static struct handed_over *state_of(const struct thread_stack *stack)
{
    return stack->rules.handed_over;
}

bool handed_over_has_called_on_other_stack(const struct thread_stack *stack, uint64_t address)
{
    if (address == 0)
        return false;
    enum stack_load load = stack->code.loads_stack(stack->code.context, stack->now, address);
    return load == STACK_LOADED || load == STACK_EXCHANGED;
}

static bool is_placeholder(const struct thread_stack *stack, frame_id frame)
{
    return thread_stack_frame(stack, frame)->kind == FRAME_PLACEHOLDER;
}

/* The innermost frame further out than `frame` that has called on another stack, or the placeholder that stands for it; FRAME_NONE: none is
 * known. */
static frame_id find_caller(const struct thread_stack *stack, frame_id frame)
{
    enum { FRAMES_LIMIT = 4096 };
    for (unsigned i = 0; i < FRAMES_LIMIT; i++) {
        frame_id caller = thread_stack_parent(stack, frame);
        if (handed_over_has_called_on_other_stack(stack,
                                                  frame_tree_return_address(&stack->tree, frame)))
            return caller;
        if (is_placeholder(stack, caller))
            break;
        frame = caller;
    }
    return FRAME_NONE;
}

static bool has_split(const struct thread_stack *stack, frame_id leaf)
{
    const struct array *splits = &state_of(stack)->splits;
    for (size_t i = 0; i < splits->count; i++)
        if (((const struct stack_split *)array_at(splits, i))->leaf == leaf)
            return true;
    return false;
}

static void note_split(struct thread_stack *stack, frame_id leaf)
{
    frame_id caller = has_split(stack, leaf) ? FRAME_NONE : find_caller(stack, leaf);
    if (caller == FRAME_NONE)
        return;
    *(struct stack_split *)array_add(&state_of(stack)->splits) =
        (struct stack_split){.leaf = leaf, .caller = caller};
    if (!is_placeholder(stack, caller))
        suspended_stacks_add_lower(stack, caller);
}

/* A stack that has been left may have been on top of any lower part, and then that is what was handed over. */
static void note_splits_of_lower_parts(struct thread_stack *stack)
{
    const struct array *suspended = suspended_stacks_list(stack);
    for (size_t i = 0, count = suspended->count; i < count; i++) {
        const struct suspended_stack *lower = array_at(suspended, i);
        if (lower->lower)
            note_split(stack, lower->leaf);
    }
}

/* The running stack consists of one function that has called nothing which is still running, and whose caller is unknown. */
static bool is_bare(const struct thread_stack *stack)
{
    return is_placeholder(stack, thread_stack_parent(stack, stack->leaf)) &&
           frame_tree_return_address(&stack->tree, stack->leaf) == 0;
}

void handed_over_begin(struct thread_stack *stack)
{
    state_of(stack)->passes_on = is_bare(stack);
}

void handed_over_end(struct thread_stack *stack, frame_id left)
{
    struct array *splits = &state_of(stack)->splits;
    if (!state_of(stack)->passes_on)
        note_split(stack, left);
    for (size_t i = 0; state_of(stack)->passes_on && i < splits->count; i++)
        ((struct stack_split *)array_at(splits, i))->passed_on = true;
    if (state_of(stack)->passes_on || splits->count == 0)
        note_splits_of_lower_parts(stack);
    state_of(stack)->passes_on = false;
}

struct stack_split handed_over_split(const struct thread_stack *stack)
{
    frame_id frame = stack->leaf, root = frame_tree_root(&stack->tree, stack->leaf);
    while (frame != root && thread_stack_parent(stack, frame) != root)
        frame = thread_stack_parent(stack, frame);
    bool parts = frame != root && handed_over_has_called_on_other_stack(
                                      stack, frame_tree_return_address(&stack->tree, frame));
    return (struct stack_split){.leaf = stack->leaf, .caller = parts ? root : FRAME_NONE};
}

void handed_over_part(struct thread_stack *stack, struct stack_split left)
{
    if (left.caller != FRAME_NONE)
        suspended_stacks_part(stack, left.leaf, left.caller);
}

/* The running stack is the one that was split, which its handler has resumed: nothing below it has run. */
static bool is_resumed(const struct thread_stack *stack, const struct suspended_stack *below)
{
    const struct array *splits = &state_of(stack)->splits;
    for (size_t i = 0; below != NULL && i < splits->count; i++) {
        const struct stack_split *split = array_at(splits, i);
        if (split->passed_on && split->leaf == below->leaf)
            return true;
    }
    return false;
}

/* The running stack has turned out to be the lower part, or one that cannot be distinguished from it. */
static bool is_handed_over(const struct thread_stack *stack, const struct stack_split *split,
                           const struct suspended_stack *below, uint64_t address)
{
    if (address == 0 || split->passed_on)
        return true;
    if (is_placeholder(stack, split->caller))
        return below != NULL && below->lower;
    return suspended_stacks_leaf_returns_to(stack, split->caller, address);
}

void handed_over_settle(struct thread_stack *stack, const struct suspended_stack *below,
                        uint64_t address)
{
    struct array *splits = &state_of(stack)->splits;
    if (state_of(stack)->passes_on)
        return;
    bool resumed = is_resumed(stack, below);
    for (size_t i = 0; i < splits->count; i++) {
        struct stack_split split = *(const struct stack_split *)array_at(splits, i);
        if (!resumed && is_handed_over(stack, &split, below, address))
            suspended_stacks_part(stack, split.leaf, split.caller);
        else if (!is_placeholder(stack, split.caller))
            suspended_stacks_forget_leaf(stack, split.caller);
    }
    splits->count = 0;
}

static void begin(struct thread_stack *stack)
{
    state_of(stack)->splits = array_of(sizeof(struct stack_split));
}

static void end(struct thread_stack *stack)
{
    array_free(&state_of(stack)->splits);
}

const struct stack_rule handed_over_rule = {
    .state_size = sizeof(struct handed_over), .begin = begin, .end = end};
