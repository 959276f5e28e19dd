/* The moves that nearly all events make: a frame is entered, returned from, replaced.
 *
 * Inlined where millions of events pass (common_moves.c); others call the functions of the same
 * names in thread_stack.h, which use these.
 */
#ifndef MAGIC_TRACE_STACK_STACK_MOVES_H
#define MAGIC_TRACE_STACK_STACK_MOVES_H

#include "stack/thread_stack.h"

static inline void record_step(struct thread_stack *stack, enum history_kind kind, uint32_t frame)
{
    history_add(&stack->history, stack->now, kind, frame);
}

/* Looks up what must be known of a function before it is counted. */
static inline void know_function(struct thread_stack *stack, function_id function)
{
    if (!active_functions_knows(&stack->open, function))
        active_functions_add_new(&stack->open, function,
                                 stack->code.go_role(stack->code.context, function) ==
                                     GO_ROLE_GOGO);
}

/* Another frame of `function` is on the stack. */
static inline void count_active_function(struct thread_stack *stack, function_id function)
{
    know_function(stack, function);
    active_functions_add(&stack->open, function);
}

/* Finds the start of the frame's function, which holds `address`, for a new frame. */
void thread_stack_set_start(struct thread_stack *stack, frame_id frame, uint64_t address);

/* Makes `activation` on top of `parent` the leaf, and returns it. Its function is looked up, but
 * not counted yet. */
static inline __attribute__((always_inline)) frame_id
place_leaf(struct thread_stack *stack, frame_id parent, const struct activation *activation,
           uint64_t address)
{
    bool added;
    frame_id leaf = frame_tree_child(&stack->tree, parent, activation, &added);
    stack->leaf = leaf;
    if (added) {
        thread_stack_set_start(stack, leaf, address);
        know_function(stack, frame_known_function(activation->function));
    }
    return leaf;
}

static inline void open_frame(struct thread_stack *stack, frame_id parent,
                              const struct activation *activation, uint64_t address)
{
    place_leaf(stack, parent, activation, address);
    count_active_function(stack, frame_known_function(activation->function));
}

static inline void close_frames_above(struct thread_stack *stack, frame_id frame)
{
    while (stack->leaf != frame) {
        const struct frame *leaf = thread_stack_leaf(stack);
        active_functions_remove(&stack->open, leaf->function);
        stack->leaf = thread_stack_parent(stack, stack->leaf);
    }
}

static inline void move_into(struct thread_stack *stack, const struct activation *activation,
                             uint64_t address)
{
    open_frame(stack, stack->leaf, activation, address);
    stack->statistics.spans++;
    record_step(stack, HISTORY_ENTER, stack->leaf);
}

static inline void move_back(struct thread_stack *stack, frame_id frame)
{
    if (stack->leaf == frame)
        return;
    close_frames_above(stack, frame);
    record_step(stack, HISTORY_RETURN, frame);
}

/* The function that was called where the leaf is now; see activation.origin. */
static inline function_id called_function(const struct thread_stack *stack)
{
    function_id origin = frame_tree_origin(&stack->tree, stack->leaf);
    return origin != FUNCTION_UNKNOWN ? origin : thread_stack_leaf(stack)->function;
}

/* The activation of the leaf after `function` has taken over its frame. */
static inline struct activation taken_over(const struct thread_stack *stack, function_id function)
{
    const struct frame *leaf = thread_stack_leaf(stack);
    function_id called = called_function(stack);
    return (struct activation){
        .function = function,
        .kind = leaf->kind,
        .return_address = leaf->return_address,
        .origin = called == function ? FUNCTION_UNKNOWN : called,
    };
}

static inline void move_aside(struct thread_stack *stack, function_id function, uint64_t address)
{
    const struct frame *leaf = thread_stack_leaf(stack);
    struct activation activation = taken_over(stack, function);
    active_functions_remove(&stack->open, leaf->function);
    open_frame(stack, leaf->parent, &activation, address);
    stack->statistics.spans++;
    record_step(stack, HISTORY_REPLACE, stack->leaf);
}

#endif
