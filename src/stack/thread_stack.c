#include "stack/thread_stack.h"

void thread_stack_init(struct thread_stack *stack, const struct code_view *code)
{
    *stack = (struct thread_stack){.gaps = array_of(sizeof(struct gap)), .code = *code};
    frame_tree_init(&stack->tree);
    history_init(&stack->history);
    open_functions_init(&stack->open);
}

void thread_stack_free(struct thread_stack *stack)
{
    frame_tree_free(&stack->tree);
    history_free(&stack->history);
    open_functions_free(&stack->open);
    array_free(&stack->gaps);
}

static void record(struct thread_stack *stack, enum history_kind kind, uint32_t frame)
{
    history_add(&stack->history, stack->now, kind, frame);
}

static uint64_t function_start(const struct thread_stack *stack, uint64_t address)
{
    if (address == 0)
        return 0;
    return stack->code.function_start(stack->code.context, stack->now, address);
}

/* Makes `activation` on top of `parent` the leaf. */
static void open_frame(struct thread_stack *stack, frame_id parent,
                       const struct activation *activation, uint64_t address)
{
    bool added;
    stack->leaf = frame_tree_child(&stack->tree, parent, activation, &added);
    if (added)
        frame_tree_at(&stack->tree, stack->leaf)->start = function_start(stack, address);
    open_functions_add(&stack->open, activation->function);
    stack->statistics.spans++;
}

static void end_gap(struct thread_stack *stack)
{
    struct gap *gap = array_at(&stack->gaps, stack->gaps.count - 1);
    if (gap->time_lost)
        gap->end = stack->now;
    if (gap->end.value > gap->begin.value)
        stack->statistics.spans++;
    record(stack, HISTORY_GAP_END, (uint32_t)(stack->gaps.count - 1));
    stack->in_gap = false;
}

void thread_stack_begin(struct thread_stack *stack, const struct activation *activation,
                        uint64_t address, bool seen)
{
    if (stack->in_gap)
        end_gap(stack);
    frame_id placeholder = frame_tree_add_placeholder(&stack->tree);
    open_frame(stack, placeholder, activation, address);
    stack->root_return_address = activation->return_address;
    record(stack, seen ? HISTORY_BEGIN_SEEN : HISTORY_BEGIN, stack->leaf);
}

static void close_frames_above(struct thread_stack *stack, frame_id frame)
{
    while (stack->leaf != frame) {
        const struct frame *leaf = thread_stack_leaf(stack);
        open_functions_remove(&stack->open, leaf->function);
        stack->leaf = leaf->parent;
    }
}

static frame_id find_placeholder(const struct thread_stack *stack)
{
    frame_id frame = stack->leaf;
    while (thread_stack_frame(stack, frame)->kind != FRAME_PLACEHOLDER)
        frame = thread_stack_frame(stack, frame)->parent;
    return frame;
}

void thread_stack_end(struct thread_stack *stack, enum history_kind reason)
{
    if (stack->in_gap)
        end_gap(stack);
    if (stack->leaf == FRAME_NONE)
        return;
    record(stack, reason, FRAME_NONE);
    close_frames_above(stack, find_placeholder(stack));
    stack->leaf = FRAME_NONE;
}

void thread_stack_die(struct thread_stack *stack, const char *words)
{
    stack->death = words;
    record(stack, HISTORY_DEATH, FRAME_NONE);
}

void thread_stack_begin_gap(struct thread_stack *stack, const struct gap *gap)
{
    thread_stack_end(stack, HISTORY_END_GAP);
    struct gap *added = array_add(&stack->gaps);
    *added = *gap;
    added->begin = added->end = stack->now;
    record(stack, HISTORY_GAP, (uint32_t)(stack->gaps.count - 1));
    stack->in_gap = true;
}

void thread_stack_enter(struct thread_stack *stack, const struct activation *activation,
                        uint64_t address)
{
    open_frame(stack, stack->leaf, activation, address);
    record(stack, HISTORY_ENTER, stack->leaf);
}

void thread_stack_enter_inferred(struct thread_stack *stack, const struct activation *activation,
                                 uint64_t address)
{
    open_frame(stack, stack->leaf, activation, address);
    record(stack, HISTORY_ENTER_INFERRED, stack->leaf);
}

void thread_stack_return(struct thread_stack *stack, frame_id frame)
{
    if (stack->leaf == frame)
        return;
    close_frames_above(stack, frame);
    record(stack, HISTORY_RETURN, frame);
}

void thread_stack_unwind(struct thread_stack *stack, frame_id frame)
{
    if (stack->leaf == frame)
        return;
    close_frames_above(stack, frame);
    record(stack, HISTORY_UNWIND, frame);
}

/* The function that was called where `frame` is now; see activation.origin. */
static function_id called_function(const struct frame *frame)
{
    return frame->origin != FUNCTION_UNKNOWN ? frame->origin : frame->function;
}

void thread_stack_replace(struct thread_stack *stack, function_id function, uint64_t address)
{
    const struct frame *leaf = thread_stack_leaf(stack);
    function_id called = called_function(leaf);
    struct activation activation = {
        .function = function,
        .kind = leaf->kind,
        .return_address = leaf->return_address,
        .origin = called == function ? FUNCTION_UNKNOWN : called,
    };
    open_functions_remove(&stack->open, leaf->function);
    open_frame(stack, leaf->parent, &activation, address);
    record(stack, HISTORY_REPLACE, stack->leaf);
}

void thread_stack_discover(struct thread_stack *stack, function_id function, uint64_t address)
{
    frame_id placeholder = find_placeholder(stack);
    frame_tree_discover(&stack->tree, placeholder, function, function_start(stack, address));
    thread_stack_return(stack, placeholder);
    open_functions_add(&stack->open, function);
    stack->root_return_address = 0;
    stack->statistics.spans++;
}

frame_id thread_stack_find(const struct thread_stack *stack, function_id function)
{
    if (open_functions_count(&stack->open, function) == 0)
        return FRAME_NONE;
    frame_id frame = stack->leaf;
    while (thread_stack_frame(stack, frame)->function != function)
        frame = thread_stack_frame(stack, frame)->parent;
    return frame;
}

bool thread_stack_is_root(const struct thread_stack *stack, frame_id frame)
{
    frame_id parent = thread_stack_frame(stack, frame)->parent;
    return thread_stack_frame(stack, parent)->kind == FRAME_PLACEHOLDER;
}

bool thread_stack_is_start(const struct thread_stack *stack, uint64_t address)
{
    return address != 0 && function_start(stack, address) == address;
}
