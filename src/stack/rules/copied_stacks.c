#include "stack/rules/copied_stacks.h"

#include "stack/rules/stack_pointer.h"
#include "stack/rules/stack_switch.h"
#include "stack/stack_comparison.h"
#include "stack/stack_moves.h"

#include <string.h>

enum {
    LEFT_LIMIT = 1024, /* stacks; beyond it the oldest is dropped */
    /* Callers that are searched for one on which the running stack has begun. */
    CALLERS_LIMIT = 4096,
    CANDIDATES_LIMIT = 64,
    SEARCHES_LIMIT = 8, /* for the place where stacks begin: ... */
    SEARCHED_CALLERS = 64,
    SEARCHED_CODE = 2048, /* bytes */
    CHANGING_LIMIT =
        4, /* functions, from the one that code calls in order to change stacks to the one that does */
};

static struct copied_stacks *state_of(const struct thread_stack *stack)
{
    return stack->rules.copied_stacks;
}

/* --- The stacks that were left. --- */

static void forget_at(struct array *left, size_t index)
{
    struct copied_stack *stacks = left->elements;
    left->count--;
    memmove(stacks + index, stacks + index + 1, (left->count - index) * sizeof *stacks);
}

/* It continues, or one that looks like it. */
static void forget(struct thread_stack *stack, frame_id leaf)
{
    struct array *left = &state_of(stack)->left;
    const struct copied_stack *stacks = left->elements;
    for (size_t i = 0; i < left->count; i++)
        if (stacks[i].leaf == leaf) {
            forget_at(left, i);
            return;
        }
}

static void leave(struct thread_stack *stack, const struct flow_event *event)
{
    struct array *left = &state_of(stack)->left;
    if (left->count == LEFT_LIMIT)
        forget_at(left, 0);
    *(struct copied_stack *)array_add(left) =
        (struct copied_stack){.leaf = stack->leaf,
                              .place = event->to,
                              .pointer = stack_pointer_move(stack).from,
                              .number = state_of(stack)->numbers.left};
    stack_switch_leave(stack);
}

/* --- Which one continues. --- */

/* Of those that look alike the first one, which has waited longest. */
static void add_candidate(const struct thread_stack *stack, struct array *candidates, frame_id leaf)
{
    const frame_id *leaves = candidates->elements;
    for (size_t i = 0; i < candidates->count; i++)
        if (stack_comparison_are_alike(stack, leaves[i], leaf))
            return;
    *(frame_id *)array_add(candidates) = leaf;
}

/* The first `count` of those that were left. */
static void find_left(const struct thread_stack *stack, const struct flow_event *event,
                      uint64_t pointer, size_t count, struct array *found)
{
    for (size_t i = 0; i < count; i++) {
        const struct copied_stack *copied = array_at(&state_of(stack)->left, i);
        bool may_be = pointer == 0 || copied->pointer == 0 || copied->pointer == pointer;
        if (copied->place == event->to && may_be && found->count < CANDIDATES_LIMIT)
            add_candidate(stack, found, copied->leaf);
    }
}

/* --- Stacks on which others have begun: they continue where the function that changes stacks had returned. --- */

/* The calls by which code changes stacks, from the leaf outwards. */
struct changing_calls {
    struct activation calls[CHANGING_LIMIT];
    unsigned count;
};

static struct changing_calls find_changing(const struct thread_stack *stack)
{
    struct changing_calls changing = {.count = 0};
    frame_id id = stack->leaf;
    while (changing.count < CHANGING_LIMIT) {
        const struct frame *frame = thread_stack_frame(stack, id);
        if (frame->kind != FRAME_FUNCTION)
            break;
        changing.calls[changing.count++] =
            (struct activation){.function = frame->function,
                                .kind = FRAME_FUNCTION,
                                .return_address = frame->return_address};
        id = thread_stack_parent(stack, id);
    }
    return changing;
}

/* The frame that `caller` has called as `changing` says, but for the outermost of the calls, which returned to `address`. */
static frame_id find_calls(struct thread_stack *stack, frame_id caller,
                           const struct changing_calls *changing, unsigned count, uint64_t address)
{
    for (frame_id call = caller; count-- > 0; address = 0) {
        struct activation activation = changing->calls[count];
        if (address != 0)
            activation.return_address = address;
        call = frame_tree_find_child(&stack->tree, call, &activation);
        if (call == FRAME_NONE || count == 0)
            return call;
    }
    return FRAME_NONE;
}

/* Where `caller` has called what changes stacks, before the call that is active: 0: nowhere, as far as is known. */
static frame_id search_calls(struct thread_stack *stack, frame_id caller, frame_id active,
                             const struct changing_calls *changing, struct begun_place *place)
{
    uint64_t end = thread_stack_frame(stack, active)->return_address;
    if (end < SEARCHED_CODE)
        return FRAME_NONE;
    for (unsigned count = 1; count <= changing->count; count++)
        for (uint64_t address = end - 1; address > end - SEARCHED_CODE; address--) {
            frame_id call = find_calls(stack, caller, changing, count, address);
            if (call == FRAME_NONE)
                continue;
            *place =
                (struct begun_place){thread_stack_frame(stack, caller)->function, address, count};
            return call;
        }
    return FRAME_NONE;
}

static void search_begun_on(struct thread_stack *stack, const struct changing_calls *changing,
                            struct array *found)
{
    frame_id active = stack->leaf, caller = thread_stack_parent(stack, active);
    struct begun_place place;
    for (unsigned i = 0; i < SEARCHED_CALLERS; i++) {
        if (thread_stack_frame(stack, caller)->kind == FRAME_PLACEHOLDER)
            return;
        frame_id call = search_calls(stack, caller, active, changing, &place);
        if (call != FRAME_NONE) {
            *(struct begun_place *)array_add(&state_of(stack)->begun) = place;
            add_candidate(stack, found, call);
            return;
        }
        active = caller;
        caller = thread_stack_parent(stack, active);
    }
}

static void find_begun_in(struct thread_stack *stack, frame_id caller, frame_id active,
                          const struct changing_calls *changing, struct array *found)
{
    const struct array *begun = &state_of(stack)->begun;
    for (size_t i = 0; i < begun->count; i++) {
        const struct begun_place *place = array_at(begun, i);
        if (thread_stack_frame(stack, caller)->function != place->function ||
            place->count > changing->count ||
            thread_stack_frame(stack, active)->return_address == place->address)
            continue;
        frame_id call = find_calls(stack, caller, changing, place->count, place->address);
        if (call != FRAME_NONE)
            add_candidate(stack, found, call);
    }
}

/* Stacks on which the running one, or one that this began on, has begun. Where that happens is learned once. */
static void find_begun_on(struct thread_stack *stack, struct array *found)
{
    struct changing_calls changing = find_changing(stack);
    frame_id active = stack->leaf, caller = thread_stack_parent(stack, active);
    for (unsigned i = 0; i < CALLERS_LIMIT; i++) {
        if (thread_stack_frame(stack, caller)->kind == FRAME_PLACEHOLDER)
            break;
        find_begun_in(stack, caller, active, &changing, found);
        active = caller;
        caller = thread_stack_parent(stack, active);
    }
    if (found->count == 0 && state_of(stack)->searches < SEARCHES_LIMIT) {
        state_of(stack)->searches++;
        search_begun_on(stack, &changing, found);
    }
}

/* The stack that runs has been left, one of `found` continues, or one that is unknown. */
static void go_on(struct thread_stack *stack, const struct flow_event *event,
                  const struct array *found)
{
    if (found->count == 0) {
        stack_switch_begin(stack, event);
    } else if (found->count == 1) {
        frame_id leaf = *(const frame_id *)array_at(found, 0);
        forget(stack, leaf);
        stack_moves_resume(stack, leaf, event->function, event->to);
    } else {
        for (size_t i = 0; i < found->count; i++)
            *(frame_id *)array_add(&state_of(stack)->candidates) =
                *(const frame_id *)array_at(found, i);
        stack_moves_begin_in_one_of(stack, event);
    }
}

static void change_stacks(struct thread_stack *stack, const struct flow_event *event,
                          struct array *found)
{
    const struct array *left = &state_of(stack)->left;
    uint64_t pointer = stack_pointer_move(stack).to;
    bool misses = stack_switch_misses_stacks(stack);
    find_left(stack, event, pointer, left->count, found);
    bool was_left = found->count > 0;
    found->count = 0;
    if (!was_left || pointer == 0)
        find_begun_on(stack, found);
    leave(stack, event); /* now it may be known which one that was */
    if (misses)
        found->count = 0;
    else
        find_left(stack, event, pointer, left->count - 1, found);
    go_on(stack, event, found);
}

/* --- The recording says which stacks these are. --- */

static bool note_numbers(struct thread_stack *stack, const struct flow_event *event)
{
    state_of(stack)->numbers = (struct copied_numbers){(uint32_t)event->to, (uint32_t)event->next};
    return true;
}

static struct copied_numbers take_numbers(struct thread_stack *stack)
{
    struct copied_numbers numbers = state_of(stack)->numbers;
    state_of(stack)->numbers = (struct copied_numbers){0, 0};
    return numbers;
}

/* Its index; their count: none has that number. */
static size_t find_numbered(const struct array *left, uint32_t number)
{
    const struct copied_stack *stacks = left->elements;
    size_t i = 0;
    while (i < left->count && stacks[i].number != number)
        i++;
    return i;
}

static void forget_numbered(struct array *left, uint32_t number)
{
    size_t index = find_numbered(left, number);
    if (number != 0 && index < left->count)
        forget_at(left, index);
}

static void go_on_in(struct thread_stack *stack, uint32_t number, const struct flow_event *event)
{
    struct array *left = &state_of(stack)->left;
    size_t index = number != 0 ? find_numbered(left, number) : left->count;
    const struct copied_stack *continues = index < left->count ? array_at(left, index) : NULL;
    if (continues == NULL || continues->place != event->to) {
        stack_switch_begin(stack, event);
        return;
    }
    frame_id leaf = continues->leaf;
    forget_at(left, index);
    stack_moves_resume(stack, leaf, event->function, event->to);
}

static void change_numbered(struct thread_stack *stack, const struct flow_event *event)
{
    forget_numbered(&state_of(stack)->left, state_of(stack)->numbers.left);
    leave(stack, event);
    go_on_in(stack, take_numbers(stack).continues, event);
}

/* Numbers belong to the code that has no branch up to the copy; of code that loads the stack pointer, to the switch which ends with
 * that branch (stack_pointer.h). In a gap they may have been given to other stacks. */
static void before_event(struct thread_stack *stack, const struct flow_event *event)
{
    struct array *left = &state_of(stack)->left;
    if (event->kind == FLOW_RETURN || event->kind == FLOW_JUMP || event->kind == FLOW_GAP)
        take_numbers(stack);
    if (event->kind != FLOW_GAP)
        return;
    for (size_t i = left->count; i-- > 0;)
        if (((const struct copied_stack *)array_at(left, i))->number != 0)
            forget_at(left, i);
}

static bool follow_copy(struct thread_stack *stack, const struct flow_event *event)
{
    if (stack->leaf == FRAME_NONE || thread_stack_leaf(stack)->function != event->function) {
        take_numbers(stack);
        return true;
    }
    if (state_of(stack)->numbers.left != 0) {
        change_numbered(stack, event);
        return true;
    }
    struct array found = array_of(sizeof(frame_id));
    change_stacks(stack, event, &found);
    array_free(&found);
    return true;
}

/* --- The returns have decided. --- */

/* Whether the segment's stack may be that of `leaf`, as far as both are known. `join`: then it is. */
static bool fits(struct thread_stack *stack, const struct segment *segment, frame_id leaf,
                 bool join)
{
    struct comparison comparison = stack_comparison_begin(stack, segment, leaf);
    size_t before = comparison.before.frames.count, after = comparison.after.frames.count;
    size_t both = before < after ? before : after;
    struct meeting meeting = {both - 1, both - 1, 0};
    if (both > 0)
        meeting.agreeing = stack_comparison_count_agreeing(&comparison, both - 1, both - 1);
    bool same = both > 0 && meeting.agreeing == both;
    if (same && join)
        stack_comparison_join(&comparison, &meeting);
    stack_comparison_end(&comparison);
    return same;
}

static void decide(struct thread_stack *stack, struct segment *segment)
{
    struct array *candidates = &state_of(stack)->candidates;
    frame_id chosen = FRAME_NONE;
    size_t fitting = 0;
    for (size_t i = 0; i < candidates->count; i++) {
        frame_id leaf = *(const frame_id *)array_at(candidates, i);
        if (fits(stack, segment, leaf, false)) {
            chosen = leaf;
            fitting++;
        }
    }
    candidates->count = 0;
    if (fitting != 1)
        return;
    fits(stack, segment, chosen, true);
    forget(stack, chosen);
}

static void program_changed(struct thread_stack *stack)
{
    state_of(stack)->left.count = state_of(stack)->candidates.count = 0;
    state_of(stack)->begun.count = state_of(stack)->searches = 0;
    take_numbers(stack);
}

static void begin(struct thread_stack *stack)
{
    state_of(stack)->left = array_of(sizeof(struct copied_stack));
    state_of(stack)->candidates = array_of(sizeof(frame_id));
    state_of(stack)->begun = array_of(sizeof(struct begun_place));
}

static void end(struct thread_stack *stack)
{
    array_free(&state_of(stack)->left);
    array_free(&state_of(stack)->candidates);
    array_free(&state_of(stack)->begun);
}

const struct stack_rule copied_stacks_rule = {
    .state_size = sizeof(struct copied_stacks),
    .begin = begin,
    .end = end,
    .segment_ended = decide,
    .program_changed = program_changed,
    .before_event = before_event,
    .follow = {[FLOW_COPIED_STACKS] = note_numbers, [FLOW_COPY] = follow_copy},
};
