#include "stack/stack_moves.h"

static uint64_t function_start(const struct thread_stack *stack, uint64_t address)
{
    if (address == 0)
        return 0;
    return stack->code.function_start(stack->code.context, stack->now, address);
}

void stack_moves_set_start(struct thread_stack *stack, frame_id frame, uint64_t address)
{
    frame_tree_set_start(&stack->tree, frame, function_start(stack, address));
}

/* Another frame of `function` is on the stack. */
static inline void count_active(struct thread_stack *stack, function_id function)
{
    stack_moves_know(stack, function);
    stack_moves_count(stack, function);
}

static inline void open_frame(struct thread_stack *stack, frame_id parent,
                              const struct activation *activation, uint64_t address)
{
    stack_moves_place_leaf(stack, parent, activation, address);
    count_active(stack, frame_known_function(activation->function));
}

static void close_frames_above(struct thread_stack *stack, frame_id frame)
{
    while (stack->leaf != frame) {
        stack_moves_discount(stack, thread_stack_leaf(stack)->function);
        stack->leaf = thread_stack_parent(stack, stack->leaf);
    }
}

/* --- Segments. --- */

static void end_gap(struct thread_stack *stack)
{
    struct gap *gap = array_at(&stack->gaps, stack->gaps.count - 1);
    if (gap->time_lost)
        gap->end = stack->now;
    if (gap->end.value > gap->begin.value)
        stack->statistics.spans++;
    stack_moves_record(stack, HISTORY_GAP_END, (uint32_t)(stack->gaps.count - 1));
    stack->in_gap = false;
}

void stack_moves_begin(struct thread_stack *stack, const struct activation *activation,
                       uint64_t address, bool seen)
{
    if (stack->in_gap)
        end_gap(stack);
    frame_id placeholder = frame_tree_add_placeholder(&stack->tree);
    open_frame(stack, placeholder, activation, address);
    stack->root_return_address = activation->return_address;
    stack_moves_record(stack, seen ? HISTORY_BEGIN_SEEN : HISTORY_BEGIN, stack->leaf);
    stack->next.leaf = stack->leaf;
    *(struct segment *)array_add(&stack->segments) = stack->next;
    stack->next = (struct segment){.start = SEGMENT_FIRST};
}

void stack_moves_begin_at(struct thread_stack *stack, const struct flow_event *event, bool seen)
{
    struct activation root = {.function = event->function, .kind = FRAME_FUNCTION};
    stack_moves_begin(stack, &root, event->to, seen);
}

/* The segment ends; the next one will begin for the reason `start`. */
static void end_segment(struct thread_stack *stack, enum history_kind reason,
                        enum segment_start start)
{
    struct segment *segment = array_at(&stack->segments, stack->segments.count - 1);
    frame_id leaf = stack->leaf;
    stack_moves_record(stack, reason, FRAME_NONE);
    close_frames_above(stack, thread_stack_placeholder(stack));
    stack->leaf = FRAME_NONE;
    stack->next = (struct segment){.start = (uint8_t)start};
    if (start != SEGMENT_FIRST)
        stack->next.before = leaf;
    stack_rules_segment_ended(stack, segment);
}

void stack_moves_end(struct thread_stack *stack, enum history_kind reason)
{
    if (stack->in_gap)
        end_gap(stack);
    if (stack->leaf == FRAME_NONE) {
        if (reason != HISTORY_END_GAP)
            stack->next = (struct segment){.start = SEGMENT_FIRST};
        return;
    }
    end_segment(stack, reason, reason == HISTORY_END_GAP ? SEGMENT_GAP : SEGMENT_FIRST);
}

void stack_moves_land(struct thread_stack *stack, const struct flow_event *event,
                      struct unwind_place landed, frame_id fallback, bool called)
{
    end_segment(stack, HISTORY_END_UNWIND, SEGMENT_UNWIND);
    stack->next.fallback = fallback;
    stack->next.landed = landed;
    stack->next.called = called;
    stack_moves_begin_at(stack, event, false);
}

void stack_moves_leave(struct thread_stack *stack)
{
    end_segment(stack, HISTORY_END_SWITCH, SEGMENT_NEW);
}

void stack_moves_begin_in_one_of(struct thread_stack *stack, const struct flow_event *event)
{
    stack->next.start = SEGMENT_SWITCH;
    stack_moves_begin_at(stack, event, false);
}

void stack_moves_begin_assumed(struct thread_stack *stack, const struct flow_event *event)
{
    stack->next.start = SEGMENT_ASSUMED;
    stack_moves_begin_at(stack, event, false);
}

/* Counts `frame` and its callers as active. */
static void open_chain(struct thread_stack *stack, frame_id frame)
{
    for (; thread_stack_frame(stack, frame)->kind != FRAME_PLACEHOLDER;
         frame = thread_stack_parent(stack, frame))
        count_active(stack, thread_stack_frame(stack, frame)->function);
}

void stack_moves_resume(struct thread_stack *stack, frame_id leaf, function_id function,
                        uint64_t address)
{
    if (thread_stack_frame(stack, leaf)->kind == FRAME_PLACEHOLDER)
        frame_tree_discover(&stack->tree, leaf, function, address, function_start(stack, address));
    open_chain(stack, leaf);
    stack->leaf = leaf;
    frame_id root = frame_tree_root(&stack->tree, leaf);
    stack->root_return_address = thread_stack_frame(stack, root)->return_address;
    stack->next = (struct segment){.start = SEGMENT_FIRST};
    *(frame_id *)array_add(&stack->resumed) = leaf;
    inlined_frames_begin(stack, leaf); /* replay enters it again */
    stack_moves_record(stack, HISTORY_RESUME, leaf);
}

static void gain_callers(struct thread_stack *stack, frame_id caller)
{
    frame_tree_link(&stack->tree, thread_stack_placeholder(stack), caller);
    open_chain(stack, caller);
    frame_id root = frame_tree_root(&stack->tree, stack->leaf);
    stack->root_return_address = thread_stack_frame(stack, root)->return_address;
}

void stack_moves_learn_callers(struct thread_stack *stack, frame_id caller, uint64_t address)
{
    frame_id root = frame_tree_root(&stack->tree, stack->leaf);
    frame_tree_learn_return(&stack->tree, root, address);
    gain_callers(stack, caller);
}

void stack_moves_gain_callers(struct thread_stack *stack, frame_id caller)
{
    struct segment *segment = array_at(&stack->segments, stack->segments.count - 1);
    gain_callers(stack, caller);
    if (thread_stack_frame(stack, caller)->kind != FRAME_PLACEHOLDER)
        segment->kept = segment->kept_as = caller;
}

void stack_moves_die(struct thread_stack *stack, const char *words)
{
    stack->death = words;
    stack_moves_record(stack, HISTORY_DEATH, FRAME_NONE);
}

void stack_moves_begin_gap(struct thread_stack *stack, const struct gap *gap)
{
    stack_moves_end(stack, HISTORY_END_GAP);
    struct gap *added = array_add(&stack->gaps);
    *added = *gap;
    added->begin = added->end = stack->now;
    stack_moves_record(stack, HISTORY_GAP, (uint32_t)(stack->gaps.count - 1));
    stack->in_gap = true;
}

/* --- Frames. --- */

void stack_moves_enter(struct thread_stack *stack, const struct activation *activation,
                       uint64_t address)
{
    open_frame(stack, stack->leaf, activation, address);
    stack->statistics.spans++;
    stack_moves_record(stack, HISTORY_ENTER, stack->leaf);
}

void stack_moves_enter_again(struct thread_stack *stack, frame_id frame)
{
    frame_id caller = thread_stack_parent(stack, frame);
    if (stack->leaf != caller)
        stack->statistics.unwound++;
    close_frames_above(stack, caller);
    count_active(stack, thread_stack_frame(stack, frame)->function);
    stack->leaf = frame;
    inlined_frames_begin(stack, frame);
    stack->statistics.spans++;
    stack_moves_record(stack, HISTORY_ENTER_MOVABLE, frame);
}

void stack_moves_enter_earlier(struct thread_stack *stack, struct ticks time,
                               const struct activation *activation, uint64_t address)
{
    struct ticks now = stack->now;
    stack->now = time;
    stack_moves_enter(stack, activation, address);
    stack->now = now;
}

frame_id stack_moves_enter_movable(struct thread_stack *stack, const struct activation *activation,
                                   uint64_t address)
{
    frame_id link = frame_tree_add_placeholder(&stack->tree);
    frame_tree_link(&stack->tree, link, stack->leaf);
    open_frame(stack, link, activation, address);
    stack->statistics.spans++;
    stack_moves_record(stack, HISTORY_ENTER_MOVABLE, stack->leaf);
    return link;
}

void stack_moves_move(struct thread_stack *stack, frame_id link)
{
    const struct frame *left = frame_tree_at(&stack->tree, frame_tree_resolve(&stack->tree, link));
    stack_moves_discount(stack, left->function);
    frame_tree_link(&stack->tree, link, left->parent);
}

void stack_moves_part(struct thread_stack *stack, frame_id link, frame_id begun)
{
    struct frame *frame = frame_tree_at(&stack->tree, begun);
    frame->kind = FRAME_FUNCTION;
    frame->return_address = 0;
    frame_tree_unlink(&stack->tree, link);
}

frame_id stack_moves_add_suspended(struct thread_stack *stack, frame_id caller,
                                   const struct activation *activation)
{
    bool added;
    return frame_tree_child(&stack->tree, caller, activation, &added);
}

void stack_moves_return(struct thread_stack *stack, frame_id frame)
{
    if (stack->leaf == frame)
        return;
    close_frames_above(stack, frame);
    stack_moves_record(stack, HISTORY_RETURN, frame);
}

void stack_moves_unwind(struct thread_stack *stack, frame_id frame)
{
    if (stack->leaf == frame)
        return;
    stack->statistics.unwound++;
    close_frames_above(stack, frame);
    stack_moves_record(stack, HISTORY_UNWIND, frame);
}

void stack_moves_replace(struct thread_stack *stack, function_id function, uint64_t address)
{
    const struct frame *leaf = thread_stack_leaf(stack);
    if (leaf->function == function)
        return;
    struct activation activation = stack_moves_taken_over(stack, function);
    stack_moves_discount(stack, leaf->function);
    open_frame(stack, leaf->parent, &activation, address);
    stack->statistics.spans++;
    stack_moves_record(stack, HISTORY_REPLACE, stack->leaf);
}

/* What `placeholder` stands for turns out to be `function`. */
static void discover(struct thread_stack *stack, frame_id placeholder, function_id function,
                     uint64_t address, uint64_t start)
{
    frame_tree_discover(&stack->tree, placeholder, function, address, start);
    count_active(stack, thread_stack_frame(stack, placeholder)->function);
    stack->root_return_address = 0;
}

void stack_moves_discover(struct thread_stack *stack, function_id function, uint64_t address)
{
    frame_id placeholder = thread_stack_placeholder(stack);
    frame_id root = frame_tree_root(&stack->tree, stack->leaf);
    enum frame_kind kind = thread_stack_frame(stack, root)->kind;
    stack_moves_return(stack, placeholder);
    discover(stack, placeholder, function, address, function_start(stack, address));
    inlined_frames_learn(stack, placeholder, address,
                         kind == FRAME_SIGNAL || kind == FRAME_INTERRUPT);
}

frame_id stack_moves_learn_caller(struct thread_stack *stack, frame_id frame, function_id function,
                                  uint64_t address, bool interrupted)
{
    struct frame *called = frame_tree_at(&stack->tree, frame);
    called->return_address = address;
    if (interrupted)
        called->kind = FRAME_SIGNAL;
    frame_id caller = thread_stack_parent(stack, frame);
    discover(stack, caller, function, address,
             function_start(stack, interrupted ? address : address - 1));
    inlined_frames_learn(stack, caller, address, interrupted);
    return caller;
}

/* `frame` once more, with another caller, to which it returns at `address`. */
static frame_id copy_frame(struct frame_tree *tree, frame_id frame, frame_id caller,
                           uint64_t address)
{
    const struct activation activation = {
        .function = frame_tree_at(tree, frame)->function,
        .kind = frame_tree_at(tree, frame)->kind,
        .return_address = address,
        .origin = frame_tree_origin(tree, frame),
    };
    bool added;
    frame_id copy = frame_tree_child(tree, caller, &activation, &added);
    if (added)
        frame_tree_set_start(tree, copy, frame_tree_start(tree, frame));
    return copy;
}

frame_id stack_moves_copy_frames(struct thread_stack *stack, frame_id leaf, frame_id end)
{
    struct frame_tree *tree = &stack->tree;
    struct array frames = array_of(sizeof(frame_id));
    for (frame_id frame = leaf; frame != end; frame = frame_tree_parent(tree, frame))
        *(frame_id *)array_add(&frames) = frame;
    frame_id copy = leaf;
    if (tree->limit - tree->frames.count > frames.count + FRAMES_PER_EVENT) {
        copy = frame_tree_add_placeholder(tree);
        for (size_t i = frames.count; i-- > 0;) {
            frame_id frame = *(const frame_id *)array_at(&frames, i);
            copy = copy_frame(tree, frame, copy, frame_tree_return_address(tree, frame));
        }
    }
    array_free(&frames);
    return copy;
}

void stack_moves_copy_callers(struct thread_stack *stack, frame_id root, const frame_id *frames,
                              size_t count)
{
    struct frame_tree *tree = &stack->tree;
    uint64_t address = 0;
    if (tree->limit - tree->frames.count <= count + FRAMES_PER_EVENT)
        return;
    frame_id caller = frame_tree_add_placeholder(tree);
    for (size_t i = count; i > 0; i--) {
        caller = copy_frame(tree, frames[i], caller, address);
        address = frame_tree_return_address(tree, frames[i - 1]);
    }
    frame_tree_learn_return(tree, root, address);
    frame_tree_link(tree, thread_stack_parent(stack, root), caller);
}

void stack_moves_note_beginning(struct thread_stack *stack)
{
    frame_tree_set_begun(&stack->tree, thread_stack_placeholder(stack));
}

void stack_moves_learn_outermost(struct thread_stack *stack, frame_id frame)
{
    frame_tree_set_outermost(&stack->tree, thread_stack_parent(stack, frame));
}
