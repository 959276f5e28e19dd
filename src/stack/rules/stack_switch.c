#include "stack/rules/stack_switch.h"

#include "stack/rules/fitting_stacks.h"
#include "stack/rules/kernel_frames.h"
#include "stack/rules/stack_pointer.h"
#include "stack/stack_moves.h"

#include <string.h>

/* The greatest number of suspended stacks; beyond it the oldest is dropped. All are examined when a
 * return fits nothing.
 */
enum { SUSPENDED_LIMIT = 1024 };

static struct stack_switch *state_of(const struct thread_stack *stack)
{
    return stack->rules.stack_switch;
}

static frame_id suspended_at(const struct thread_stack *stack, size_t index)
{
    return ((const struct suspended_stack *)array_at(&state_of(stack)->suspended, index))->leaf;
}

bool stack_switch_leaf_was_interrupted_at(const struct thread_stack *stack, frame_id leaf,
                                          uint64_t address)
{
    const struct frame *frame = thread_stack_frame(stack, leaf);
    return frame->kind == FRAME_SIGNAL_RETURN &&
           kernel_frames_continues_at(frame->return_address, address);
}

bool stack_switch_leaf_returns_to(const struct thread_stack *stack, frame_id leaf, uint64_t address)
{
    const struct frame *frame = thread_stack_frame(stack, leaf);
    return frame->kind == FRAME_FUNCTION && frame->return_address == address;
}

/* --- The list of suspended stacks. --- */

static void add(struct thread_stack *stack, struct suspended_stack suspended)
{
    struct stack_switch *state = state_of(stack);
    uint64_t address = thread_stack_frame(stack, suspended.leaf)->return_address;
    *(struct suspended_stack *)array_add(&state->suspended) = suspended;
    ++*suspended_addresses_slot(&state->addresses, address);
}

static void add_running(struct thread_stack *stack)
{
    struct stack_switch *state = state_of(stack);
    uint64_t pointer = stack_pointer_move(stack).from;
    if (state->top != 0 && pointer > state->top) /* it did not begin where it was first seen */
        state->top = pointer;
    add(stack, (struct suspended_stack){stack->leaf, pointer, state->top, state->loaded, false});
}

static void forget(struct thread_stack *stack, size_t index)
{
    struct stack_switch *state = state_of(stack);
    struct suspended_stack *suspended = state->suspended.elements;
    uint64_t address = thread_stack_frame(stack, suspended[index].leaf)->return_address;
    --*suspended_addresses_slot(&state->addresses, address);
    state->suspended.count--;
    memmove(suspended + index, suspended + index + 1,
            (state->suspended.count - index) * sizeof(*suspended));
}

static void forget_oldest(struct thread_stack *stack)
{
    if (state_of(stack)->suspended.count <= SUSPENDED_LIMIT)
        return;
    uint64_t address = thread_stack_frame(stack, suspended_at(stack, 0))->return_address;
    ++*suspended_addresses_slot(&state_of(stack)->dropped, address);
    forget(stack, 0);
}

void stack_switch_add(struct thread_stack *stack, frame_id leaf)
{
    add(stack, (struct suspended_stack){.leaf = leaf});
    forget_oldest(stack);
}

/* Stacks that were suspended in the memory in which a new one begins have ended. */
static void forget_stacks_at(struct thread_stack *stack, uint64_t pointer)
{
    for (size_t i = state_of(stack)->suspended.count; i-- > 0;) {
        const struct suspended_stack *suspended = array_at(&state_of(stack)->suspended, i);
        if (suspended->pointer != 0 && suspended->pointer <= pointer && pointer <= suspended->top)
            forget(stack, i);
    }
}

/* --- Switches. --- */

void stack_switch_leave(struct thread_stack *stack)
{
    state_of(stack)->top = 0;
    state_of(stack)->loaded = false;
    stack_moves_leave(stack);
}

/* Index of the first suspended stack from `first` on that continues at `address`; their number if
 * none does. */
static size_t find_suspended(const struct thread_stack *stack, size_t first, uint64_t address)
{
    size_t index = first;
    if (!stack_switch_may_continue_at(stack, address))
        return state_of(stack)->suspended.count;
    while (index < state_of(stack)->suspended.count &&
           !stack_switch_leaf_returns_to(stack, suspended_at(stack, index), address))
        index++;
    return index;
}

/* Two stacks have the same known frames, and may have other callers further out. */
static bool are_unknown_alike(const struct thread_stack *stack, frame_id left, frame_id right)
{
    const struct frame_tree *tree = &stack->tree;
    const struct frame *one = frame_tree_at(tree, left), *other = frame_tree_at(tree, right);
    while (left != right && one->kind == other->kind && one->function == other->function &&
           one->kind != FRAME_PLACEHOLDER &&
           frame_tree_return_address(tree, left) == frame_tree_return_address(tree, right)) {
        left = frame_tree_parent(tree, left);
        right = frame_tree_parent(tree, right);
        one = frame_tree_at(tree, left);
        other = frame_tree_at(tree, right);
    }
    return left != right && one->kind == FRAME_PLACEHOLDER && other->kind == FRAME_PLACEHOLDER &&
           !frame_tree_has_begun(tree, left) && !frame_tree_has_begun(tree, right);
}

/* The list keeps one of many stacks that cannot be distinguished, and of which it is unknown whether they still wait. */
static void merge_last(struct thread_stack *stack)
{
    struct array *list = &state_of(stack)->suspended;
    const struct suspended_stack *last = array_at(list, list->count - 1);
    uint64_t address = thread_stack_frame(stack, last->leaf)->return_address;
    frame_id root = frame_tree_root(&stack->tree, last->leaf);
    if (last->pointer != 0 || frame_tree_has_begun(&stack->tree, thread_stack_parent(stack, root)))
        return;
    for (size_t i = 0; (i = find_suspended(stack, i, address)) + 1 < list->count; i++) {
        struct suspended_stack *same = array_at(list, i);
        if (are_unknown_alike(stack, same->leaf, last->leaf)) {
            same->several = true;
            forget(stack, list->count - 1);
            return;
        }
    }
}

static void suspend(struct thread_stack *stack)
{
    add_running(stack);
    stack_switch_leave(stack);
    merge_last(stack);
}

void stack_switch_suspend(struct thread_stack *stack)
{
    suspend(stack);
    forget_oldest(stack);
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
    return stack_switch_misses_stacks(stack) ||
           suspended_addresses_may_hold(&state_of(stack)->dropped, address);
}

static void add_candidate(struct thread_stack *stack, size_t index)
{
    struct stack_switch *state = state_of(stack);
    array_add_all(&state->candidates, array_at(&state->suspended, index), 1);
}

static void begin_one_of_several(struct thread_stack *stack, const struct flow_event *event)
{
    for (size_t i = 0; (i = find_suspended(stack, i, event->to)) < state_of(stack)->suspended.count;
         i++)
        add_candidate(stack, i);
    stack_moves_begin_in_one_of(stack, event);
}

bool stack_switch_has_interrupted(const struct thread_stack *stack, uint64_t address)
{
    for (size_t i = 0; i < state_of(stack)->suspended.count; i++)
        if (stack_switch_leaf_was_interrupted_at(stack, suspended_at(stack, i), address))
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
    for (size_t i = 0; i < state_of(stack)->suspended.count; i++)
        if (stack_switch_leaf_was_interrupted_at(stack, suspended_at(stack, i), event->to)) {
            add_candidate(stack, i);
            last = i;
        }
    if (candidates->count > 1) {
        stack_moves_begin_in_one_of(stack, event);
        return;
    }
    candidates->count = 0;
    stack_switch_resume(stack, last, thread_stack_parent(stack, suspended_at(stack, last)), event);
}

void stack_switch_assume(struct thread_stack *stack, frame_id leaf, const struct flow_event *event)
{
    *(struct suspended_stack *)array_add(&state_of(stack)->candidates) =
        (struct suspended_stack){.leaf = leaf};
    stack_moves_begin_assumed(stack, event);
}

bool stack_switch_may_be_further_out(const struct thread_stack *stack, function_id function)
{
    return stack_switch_none_is_suspended(stack) && thread_stack_was_open_before(stack, function);
}

bool stack_switch_is_suspended_at(const struct thread_stack *stack, uint64_t address)
{
    return find_suspended(stack, 0, address) < state_of(stack)->suspended.count;
}

/* Removes it from the suspended stacks. */
static struct suspended_stack take_suspended(struct thread_stack *stack, size_t index)
{
    struct suspended_stack suspended =
        *(const struct suspended_stack *)array_at(&state_of(stack)->suspended, index);
    forget(stack, index);
    return suspended;
}

static void go_on(struct thread_stack *stack, const struct suspended_stack *suspended,
                  frame_id frame, const struct flow_event *event)
{
    state_of(stack)->top = suspended->top;
    state_of(stack)->loaded = suspended->loaded;
    state_of(stack)->joined.count = 0; /* it may return through them */
    stack_moves_resume(stack, frame, event->function, event->to);
    if (stack_pointer_moved(stack))
        state_of(stack)->arrived = stack->leaf;
}

void stack_switch_resume(struct thread_stack *stack, size_t index, frame_id frame,
                         const struct flow_event *event)
{
    struct suspended_stack suspended = take_suspended(stack, index);
    go_on(stack, &suspended, frame, event);
}

void stack_switch_to(struct thread_stack *stack, size_t index, frame_id frame,
                     const struct flow_event *event)
{
    struct suspended_stack suspended = take_suspended(stack, index);
    stack_switch_suspend(stack);
    go_on(stack, &suspended, frame, event);
}

void stack_switch_to_unknown(struct thread_stack *stack, size_t index,
                             const struct flow_event *event)
{
    struct suspended_stack suspended = take_suspended(stack, index);
    stack_switch_suspend(stack);
    stack_switch_begin(stack, event);
    state_of(stack)->top = suspended.top;
}

frame_id stack_switch_begin_again(struct thread_stack *stack, size_t index,
                                  const struct flow_event *event)
{
    struct suspended_stack suspended = take_suspended(stack, index);
    stack_switch_begin(stack, event);
    state_of(stack)->top = suspended.top;
    return thread_stack_parent(stack, suspended.leaf);
}

/* How many suspended stacks continue at `address`, as far as it matters: 2 are several. *index: of the first one. */
static unsigned count_suspended(const struct thread_stack *stack, uint64_t address, size_t *index)
{
    size_t count = state_of(stack)->suspended.count;
    *index = find_suspended(stack, 0, address);
    if (*index == count)
        return 0;
    return 1 + (find_suspended(stack, *index + 1, address) < count);
}

bool stack_switch_continue_at(struct thread_stack *stack, const struct flow_event *event)
{
    size_t index;
    unsigned count = count_suspended(stack, event->to, &index);
    if (count > 1)
        begin_one_of_several(stack, event);
    else if (count == 1)
        stack_switch_resume(stack, index, thread_stack_parent(stack, suspended_at(stack, index)),
                            event);
    return count > 0;
}

/* The leaf returns there, and a switch would have loaded the stack pointer, which is recorded; unless the program has switched
 * without that. */
static bool is_own_return(const struct thread_stack *stack, uint64_t address)
{
    return stack_pointer_is_recorded(stack) && !state_of(stack)->switches_unrecorded &&
           stack_switch_leaf_returns_to(stack, stack->leaf, address);
}

/* The leaf is the one in which the recorded stack pointer has shown the stack to continue (code that jumps to its own return
 * instruction), and returns. */
static bool returns_after_switch(const struct thread_stack *stack, uint64_t address)
{
    return state_of(stack)->arrived == stack->leaf &&
           stack_switch_leaf_returns_to(stack, stack->leaf, address);
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
    forget_oldest(stack); /* only now: the oldest may have been the one that continues */
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
    return load_before(stack, event) != STACK_NOT_LOADED;
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
                       i < state_of(stack)->suspended.count;
         i++)
        active = is_active_in(stack, suspended_at(stack, i), event->function, &budget);
    return !active;
}

void stack_switch_to_new(struct thread_stack *stack, const struct flow_event *event, uint64_t top)
{
    bool loaded = has_loaded(stack, event);
    stack_switch_suspend(stack);
    stack_switch_begin(stack, event);
    if (top != 0)
        forget_stacks_at(stack, top);
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
    return stack_switch_leaf_returns_to(stack, suspended, event->to) ||
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
    size_t index = state_of(stack)->suspended.count;
    while (index > 0 && suspended_at(stack, index - 1) != segment->before)
        index--;
    if (index == 0)
        return false;
    forget(stack, index - 1);
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
    size_t index;
    if (!is_first_of_loaded(stack) || count_suspended(stack, event->to, &index) != 1 ||
        may_miss_one_at(stack, event->to))
        return false;
    struct suspended_stack below = take_suspended(stack, index);
    state_of(stack)->top = below.top;
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
    if (!is_first_of_loaded(stack) || count_suspended(stack, event->to, &index) < 2 ||
        may_miss_one_at(stack, event->to))
        return false;
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

/* A jump to the first instruction of a function, by code that has loaded the stack pointer, is none of longjmp's or an
 * unwinder's. */
static bool follow_jump(struct thread_stack *stack, const struct flow_event *event)
{
    if (stack_switch_to_suspended(stack, event))
        return true;
    bool begins = event->flags & FLOW_LOADS_STACK && !stack_pointer_moved(stack) &&
                  thread_stack_is_start(stack, event->to) && has_loaded(stack, event);
    if (begins)
        stack_switch_to_new(stack, event, 0);
    return begins;
}

/* --- Which of several suspended stacks has continued. --- */

static void forget_leaf(struct thread_stack *stack, frame_id leaf)
{
    for (size_t i = state_of(stack)->suspended.count; i-- > 0;)
        if (((const struct suspended_stack *)array_at(&state_of(stack)->suspended, i))->leaf ==
            leaf)
            forget(stack, i);
}

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
    stack_switch_add(stack, leaf);
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
        forget_leaf(stack, fitting.leaf);
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
    state_of(stack)->suspended = array_of(sizeof(struct suspended_stack));
    state_of(stack)->candidates = array_of(sizeof(struct suspended_stack));
    state_of(stack)->joined = array_of(sizeof(struct assumed_join));
}

static void end(struct thread_stack *stack)
{
    array_free(&state_of(stack)->suspended);
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
