#include "stack/rules/stack_switch.h"

#include "stack/rules/fitting_stacks.h"
#include "stack/rules/handed_over.h"
#include "stack/rules/stack_pointer.h"
#include "stack/stack_moves.h"

static struct stack_switch *state_of(const struct thread_stack *stack)
{
    return stack->rules.stack_switch;
}

/* --- Switches. --- */

static void add_running(struct thread_stack *stack)
{
    struct stack_switch *state = state_of(stack);
    uint64_t pointer = stack_pointer_move(stack).from;
    if (state->top != 0 && pointer > state->top) /* it did not begin where it was first seen */
        state->top = pointer;
    suspended_stacks_put(stack, (struct suspended_stack){.leaf = stack->leaf,
                                                         .pointer = pointer,
                                                         .top = state->top,
                                                         .further = state->further,
                                                         .number = stack_pointer_move(stack).left,
                                                         .loaded = state->loaded});
}

void stack_switch_leave(struct thread_stack *stack)
{
    handed_over_settle(stack, NULL, 0);
    state_of(stack)->top = state_of(stack)->further = 0;
    state_of(stack)->loaded = false;
    stack_moves_leave(stack);
}

static void suspend(struct thread_stack *stack)
{
    add_running(stack);
    stack_switch_leave(stack);
    suspended_stacks_merge_last(stack);
}

void stack_switch_suspend(struct thread_stack *stack)
{
    suspend(stack);
    suspended_stacks_limit(stack);
}

/* A recording that begins with a function may begin in the middle of the thread all the same: then that has a caller. */
bool stack_switch_misses_stacks(const struct thread_stack *stack)
{
    const struct segment *first = stack->segments.elements;
    return state_of(stack)->misses_stacks ||
           (stack->segments.count > 0 && !thread_stack_is_root(stack, first->leaf));
}

/* A stack that continues at `address` need not be one of the list. */
static bool may_miss_one_at(const struct thread_stack *stack, uint64_t address)
{
    return stack_switch_misses_stacks(stack) || suspended_stacks_may_be_dropped(stack, address);
}

static void add_candidate(struct thread_stack *stack, size_t index)
{
    struct stack_switch *state = state_of(stack);
    array_add_all(&state->candidates, array_at(suspended_stacks_list(stack), index), 1);
}

static void begin_one_of_several(struct thread_stack *stack, const struct flow_event *event)
{
    for (size_t i = 0;
         (i = suspended_stacks_find(stack, i, event->to)) < suspended_stacks_list(stack)->count;
         i++)
        add_candidate(stack, i);
    stack_moves_begin_in_one_of(stack, event);
}

void stack_switch_to_one_left_at(struct thread_stack *stack, uint64_t pointer,
                                 const struct flow_event *event)
{
    suspend(stack);
    for (size_t i = 0; i < suspended_stacks_list(stack)->count; i++) {
        const struct suspended_stack *suspended = array_at(suspended_stacks_list(stack), i);
        if (suspended->pointer == pointer &&
            suspended_stacks_leaf_returns_to(stack, suspended->leaf, event->to))
            add_candidate(stack, i);
    }
    stack_moves_begin_in_one_of(stack, event);
    suspended_stacks_limit(stack);
}

bool stack_switch_has_interrupted(const struct thread_stack *stack, uint64_t address)
{
    for (size_t i = 0; i < suspended_stacks_list(stack)->count; i++)
        if (suspended_stacks_leaf_was_interrupted_at(stack, suspended_stacks_leaf(stack, i),
                                                     address))
            return true;
    return false;
}

void stack_switch_continue_interrupted(struct thread_stack *stack, const struct flow_event *event)
{
    struct array *candidates = &state_of(stack)->candidates;
    size_t last = 0;
    if (stack_switch_misses_stacks(stack)) { /* it may be another one that was interrupted there */
        stack_switch_begin(stack, event);
        return;
    }
    for (size_t i = 0; i < suspended_stacks_list(stack)->count; i++)
        if (suspended_stacks_leaf_was_interrupted_at(stack, suspended_stacks_leaf(stack, i),
                                                     event->to)) {
            add_candidate(stack, i);
            last = i;
        }
    if (candidates->count > 1) {
        stack_moves_begin_in_one_of(stack, event);
        return;
    }
    candidates->count = 0;
    stack_switch_resume(stack, last, thread_stack_parent(stack, suspended_stacks_leaf(stack, last)),
                        event);
}

void stack_switch_assume(struct thread_stack *stack, frame_id leaf, const struct flow_event *event)
{
    *(struct suspended_stack *)array_add(&state_of(stack)->candidates) =
        (struct suspended_stack){.leaf = leaf};
    stack_moves_begin_assumed(stack, event);
}

bool stack_switch_may_be_further_out(const struct thread_stack *stack, function_id function)
{
    return suspended_stacks_none(stack) && thread_stack_was_open_before(stack, function);
}

bool stack_switch_is_suspended_at(const struct thread_stack *stack, uint64_t address)
{
    return suspended_stacks_find(stack, 0, address) < suspended_stacks_list(stack)->count;
}

static void go_on(struct thread_stack *stack, const struct suspended_stack *suspended,
                  frame_id frame, const struct flow_event *event)
{
    state_of(stack)->top = suspended->top;
    state_of(stack)->further = suspended->further;
    state_of(stack)->loaded = suspended->loaded;
    state_of(stack)->joined.count = 0; /* it may return through them */
    stack_moves_resume(stack, frame, event->function, event->to);
    if (stack_pointer_moved(stack))
        state_of(stack)->arrived = stack->leaf;
}

void stack_switch_resume(struct thread_stack *stack, size_t index, frame_id frame,
                         const struct flow_event *event)
{
    struct suspended_stack suspended = suspended_stacks_take(stack, index);
    go_on(stack, &suspended, frame, event);
}

void stack_switch_to(struct thread_stack *stack, size_t index, frame_id frame,
                     const struct flow_event *event)
{
    struct suspended_stack suspended = suspended_stacks_take(stack, index);
    stack_switch_suspend(stack);
    go_on(stack, &suspended, frame, event);
}

void stack_switch_to_unknown(struct thread_stack *stack, size_t index,
                             const struct flow_event *event)
{
    struct suspended_stack suspended = suspended_stacks_take(stack, index);
    stack_switch_suspend(stack);
    stack_switch_begin(stack, event);
    state_of(stack)->top = suspended.top;
    state_of(stack)->further = suspended.further;
}

frame_id stack_switch_begin_again(struct thread_stack *stack, size_t index,
                                  const struct flow_event *event)
{
    struct suspended_stack suspended = suspended_stacks_take(stack, index);
    stack_switch_begin(stack, event);
    state_of(stack)->top = suspended.top;
    state_of(stack)->further = suspended.further;
    return thread_stack_parent(stack, suspended.leaf);
}

bool stack_switch_continue_at(struct thread_stack *stack, const struct flow_event *event)
{
    size_t index;
    unsigned count = suspended_stacks_count(stack, event->to, &index);
    if (count > 1)
        begin_one_of_several(stack, event);
    else if (count == 1)
        stack_switch_resume(stack, index,
                            thread_stack_parent(stack, suspended_stacks_leaf(stack, index)), event);
    return count > 0;
}

/* The leaf returns there, and a switch would have loaded the stack pointer, which is recorded; unless the program has switched
 * without that. */
static bool is_own_return(const struct thread_stack *stack, uint64_t address)
{
    return stack_pointer_is_recorded(stack) && !state_of(stack)->switches_unrecorded &&
           suspended_stacks_leaf_returns_to(stack, stack->leaf, address);
}

/* The leaf is the one in which the recorded stack pointer has shown the stack to continue (code that jumps to its own return
 * instruction), and returns. */
static bool returns_after_switch(const struct thread_stack *stack, uint64_t address)
{
    return state_of(stack)->arrived == stack->leaf &&
           suspended_stacks_leaf_returns_to(stack, stack->leaf, address);
}

bool stack_switch_to_suspended(struct thread_stack *stack, const struct flow_event *event)
{
    if (stack_pointer_moved(stack) || !stack_switch_is_suspended_at(stack, event->to) ||
        returns_after_switch(stack, event->to))
        return false;
    bool misses = may_miss_one_at(stack, event->to);
    if (misses && is_own_return(stack, event->to))
        return false;
    suspend(stack);
    state_of(stack)->switches_unrecorded = true;
    if (misses)
        stack_switch_begin(stack, event); /* it may be another one that continues there */
    else
        stack_switch_continue_at(stack, event);
    suspended_stacks_limit(stack); /* only now: the oldest may have been the one that continues */
    return true;
}

void stack_switch_begin(struct thread_stack *stack, const struct flow_event *event)
{
    stack_moves_begin_at(stack, event, thread_stack_is_start(stack, event->to));
}

/* What the code has done before the event's branch, as far as is known without recorded pointers. */
static enum stack_load load_before(const struct thread_stack *stack, const struct flow_event *event)
{
    if (stack_pointer_is_recorded(stack))
        return STACK_NOT_LOADED;
    return stack->code.loads_stack(stack->code.context, stack->now, event->from);
}

static bool has_loaded(const struct thread_stack *stack, const struct flow_event *event)
{
    enum stack_load load = load_before(stack, event);
    return load == STACK_LOADED || load == STACK_EXCHANGED;
}

bool stack_switch_has_exchanged(const struct thread_stack *stack, const struct flow_event *event)
{
    return load_before(stack, event) == STACK_EXCHANGED;
}

static bool is_active_in(const struct thread_stack *stack, frame_id frame, function_id function,
                         unsigned *budget)
{
    for (; *budget > 0; --*budget, frame = thread_stack_parent(stack, frame)) {
        const struct frame *at = thread_stack_frame(stack, frame);
        if (at->kind == FRAME_PLACEHOLDER || at->function == function)
            return at->kind != FRAME_PLACEHOLDER;
    }
    return true;
}

/* The stack that runs begins at event->to. Not if an exception or longjmp may have unwound another one up to there, in which
 * the function is active. */
static bool is_beginning(const struct thread_stack *stack, const struct flow_event *event)
{
    unsigned budget = 1 << 14; /* frames to examine */
    if (stack_switch_misses_stacks(stack) || event->function == FUNCTION_UNKNOWN)
        return false;
    bool active = false;
    for (size_t i = 0; !thread_stack_is_start(stack, event->to) && !active &&
                       i < suspended_stacks_list(stack)->count;
         i++)
        active = is_active_in(stack, suspended_stacks_leaf(stack, i), event->function, &budget);
    return !active;
}

void stack_switch_to_new(struct thread_stack *stack, const struct flow_event *event, uint64_t top)
{
    bool loaded = has_loaded(stack, event);
    stack_switch_suspend(stack);
    stack_switch_begin(stack, event);
    if (top != 0)
        suspended_stacks_cover(stack, top);
    state_of(stack)->top = top;
    state_of(stack)->loaded = loaded;
    if (is_beginning(stack, event))
        stack_moves_note_beginning(stack);
}

/* True if the leaf is the outermost known frame of a new stack. */
static bool is_first_of_new_stack(const struct thread_stack *stack)
{
    const struct segment *segment = array_at(&stack->segments, stack->segments.count - 1);
    return segment->start == SEGMENT_NEW && thread_stack_is_root(stack, stack->leaf) &&
           thread_stack_parent(stack, frame_tree_root(&stack->tree, segment->leaf)) ==
               thread_stack_placeholder(stack);
}

static bool goes_on_in(const struct thread_stack *stack, frame_id suspended,
                       const struct flow_event *event)
{
    return suspended_stacks_leaf_returns_to(stack, suspended, event->to) ||
           (thread_stack_frame(stack, suspended)->function == event->function &&
            event->function != FUNCTION_UNKNOWN && !thread_stack_is_start(stack, event->to));
}

/* The stack was begun where the stack pointer changed. gogo always loads it. */
static bool has_begun_for_certain(const struct thread_stack *stack)
{
    return state_of(stack)->top != 0 || state_of(stack)->loaded ||
           (stack->open.has_gogo && stack_pointer_is_recorded(stack));
}

bool stack_switch_was_none(struct thread_stack *stack, const struct flow_event *event)
{
    const struct segment *segment = array_at(&stack->segments, stack->segments.count - 1);
    if (has_begun_for_certain(stack) || segment->start != SEGMENT_NEW ||
        !goes_on_in(stack, segment->before, event) || !is_first_of_new_stack(stack))
        return false;
    size_t index = suspended_stacks_list(stack)->count;
    while (index > 0 && suspended_stacks_leaf(stack, index - 1) != segment->before)
        index--;
    if (index == 0)
        return false;
    suspended_stacks_forget(stack, index - 1);
    state_of(stack)->joined.count = 0; /* it may return through them */
    stack_moves_gain_callers(stack, thread_stack_parent(stack, segment->before));
    return true;
}

/* The leaf is all that is known of a stack which has begun for certain. */
static bool is_first_of_loaded(const struct thread_stack *stack)
{
    return state_of(stack)->loaded && thread_stack_is_root(stack, stack->leaf);
}

bool stack_switch_was_on_top(struct thread_stack *stack, const struct flow_event *event)
{
    size_t index, lower;
    if (!is_first_of_loaded(stack) || may_miss_one_at(stack, event->to))
        return false;
    unsigned lower_count = suspended_stacks_count_lower(stack, event->to, &lower);
    if (suspended_stacks_count(stack, event->to, &index) + lower_count != 1)
        return false;
    if (lower_count == 1)
        index = lower;
    struct suspended_stack below = suspended_stacks_take(stack, index);
    handed_over_settle(stack, &below, event->to);
    state_of(stack)->top = below.top;
    state_of(stack)->further = below.further;
    state_of(stack)->loaded = below.loaded;
    state_of(stack)->joined.count = 0; /* it may return through them */
    stack_moves_learn_callers(stack, thread_stack_parent(stack, below.leaf), event->to);
    return true;
}

/* The code has loaded the stack pointer in the leaf, before the return. */
static bool switch_from_first(struct thread_stack *stack, const struct flow_event *event)
{
    bool begun = state_of(stack)->loaded, switched = stack_switch_to_suspended(stack, event);
    if (!switched && begun)
        stack_switch_to_new(stack, event, 0);
    return switched || begun;
}

bool stack_switch_from_first(struct thread_stack *stack, const struct flow_event *event)
{
    size_t index;
    if (!thread_stack_is_root(stack, stack->leaf))
        return false;
    if (has_loaded(stack, event))
        return switch_from_first(stack, event);
    if (!is_first_of_loaded(stack) || suspended_stacks_count(stack, event->to, &index) < 2 ||
        may_miss_one_at(stack, event->to))
        return false;
    handed_over_settle(stack, NULL, event->to);
    stack_switch_leave(stack); /* it was put on top of one of several */
    begin_one_of_several(stack, event);
    return true;
}

/* --- Events. --- */

/* A return to the first instruction of a function. Code that makes a new stack may have its first
 * function begin by a return (makecontext does). If the leaf's caller is unknown, that function may
 * be the restorer, and the leaf a signal handler. */
static void begin_or_replace(struct thread_stack *stack, const struct flow_event *event)
{
    if (has_loaded(stack, event))
        stack_switch_to_new(stack, event, 0);
    else if (is_first_of_new_stack(stack))
        stack_moves_discover(stack, event->function, event->to);
    else if (thread_stack_is_root(stack, stack->leaf))
        stack_moves_replace(stack, event->function, event->to);
    else
        stack_switch_to_new(stack, event, 0);
}

static bool follow_return(struct thread_stack *stack, const struct flow_event *event)
{
    if (stack_switch_to_suspended(stack, event))
        return true;
    bool starts = thread_stack_is_start(stack, event->to);
    if (starts)
        begin_or_replace(stack, event);
    return starts;
}

static void hand_over(struct thread_stack *stack, const struct flow_event *event)
{
    frame_id left = stack->leaf;
    handed_over_begin(stack);
    stack_switch_to_new(stack, event, 0);
    handed_over_end(stack, left);
}

bool stack_switch_to_function(struct thread_stack *stack, const struct flow_event *event)
{
    bool begins = event->flags & FLOW_LOADS_STACK && !stack_pointer_moved(stack) &&
                  thread_stack_is_start(stack, event->to) && has_loaded(stack, event);
    if (begins)
        hand_over(stack, event);
    return begins;
}

void stack_switch_discover(struct thread_stack *stack, const struct flow_event *event)
{
    enum { FRAME = 1024, FURTHER_LIMIT = 16 << 10 };
    if (state_of(stack)->further < FURTHER_LIMIT)
        state_of(stack)->further += FRAME;
    stack_moves_discover(stack, event->function, event->to);
    if (!stack_pointer_is_recorded(stack) &&
        handed_over_has_called_on_other_stack(stack, event->to))
        state_of(stack)->loaded = true;
}

static bool follow_jump(struct thread_stack *stack, const struct flow_event *event)
{
    return stack_switch_to_suspended(stack, event) || stack_switch_to_function(stack, event);
}

/* --- Which of several suspended stacks has continued. --- */

static void note_join(struct thread_stack *stack, const struct segment *segment, frame_id link)
{
    size_t index = (size_t)(segment - (const struct segment *)stack->segments.elements);
    if (segment->start == SEGMENT_ASSUMED)
        *(struct assumed_join *)array_add(&state_of(stack)->joined) =
            (struct assumed_join){link, (uint32_t)index};
}

/* The stack that has run was assumed to be the one that was left with `leaf`, and is not: so may be all others. No stack is
 * running. */
static void part_assumed(struct thread_stack *stack, frame_id leaf)
{
    struct array *joined = &state_of(stack)->joined;
    state_of(stack)->assumed_wrongly = true;
    suspended_stacks_add(stack, leaf);
    for (size_t i = 0; i < joined->count; i++) {
        const struct assumed_join *join = array_at(joined, i);
        struct segment *segment = array_at(&stack->segments, join->segment);
        frame_tree_unlink(&stack->tree, join->link);
        segment->kept = segment->kept_as = FRAME_NONE;
    }
    joined->count = 0;
}

static struct fitting_stacks find_fitting(struct thread_stack *stack, const struct segment *segment)
{
    const struct array *candidates = &state_of(stack)->candidates;
    struct fitting_stacks fitting = fitting_stacks_begin();
    for (size_t i = 0; i < candidates->count && fitting_stacks_is_open(&fitting); i++) {
        const struct suspended_stack *candidate = array_at(candidates, i);
        fitting_stacks_consider(&fitting, stack, segment, candidate->leaf, candidate->several);
    }
    return fitting;
}

/* The running stack has been left: which of those that it can be has it been? */
static void decide(struct thread_stack *stack, struct segment *segment)
{
    struct array *candidates = &state_of(stack)->candidates;
    struct fitting_stacks fitting = find_fitting(stack, segment);
    if (fitting.leaf != FRAME_NONE && fitting.is_certain) {
        note_join(stack, segment, fitting_stacks_join(&fitting, segment));
        suspended_stacks_forget_leaf(stack, fitting.leaf);
    } else if (fitting.leaf != FRAME_NONE) {
        fitting_stacks_gain_common(&fitting);
    } else if (segment->start == SEGMENT_ASSUMED) {
        part_assumed(stack, ((const struct suspended_stack *)array_at(candidates, 0))->leaf);
    }
    fitting_stacks_end(&fitting);
    candidates->count = 0;
}

/* The first code of the thread that was seen has no callers. */
static bool is_first_of_thread(const struct thread_stack *stack, const struct flow_event *event)
{
    return event->kind == FLOW_CALLER && event->to == 0 && stack->previous == FLOW_RESUME &&
           stack->segments.count == 1 && stack->gaps.count == 0;
}

/* A recording that begins with the thread begins with a function, or with code that has no callers (after clone). So may a
 * snapshot that does not. */
static void note_beginning(struct thread_stack *stack, const struct flow_event *event)
{
    bool loses_time = event->kind == FLOW_GAP && event->flags & FLOW_TIME_LOST;
    bool begins = !stack->started;
    if (loses_time ||
        (begins && (stack->begins_anywhere || !thread_stack_is_start(stack, event->to))))
        state_of(stack)->misses_stacks = true;
    else if (is_first_of_thread(stack, event))
        state_of(stack)->misses_stacks = false;
}

static void begin(struct thread_stack *stack)
{
    state_of(stack)->candidates = array_of(sizeof(struct suspended_stack));
    state_of(stack)->joined = array_of(sizeof(struct assumed_join));
}

static void end(struct thread_stack *stack)
{
    array_free(&state_of(stack)->candidates);
    array_free(&state_of(stack)->joined);
}

const struct stack_rule stack_switch_rule = {
    .state_size = sizeof(struct stack_switch),
    .begin = begin,
    .end = end,
    .before_event = note_beginning,
    .segment_ended = decide,
    .follow = {[FLOW_RETURN] = follow_return, [FLOW_JUMP] = follow_jump},
};
