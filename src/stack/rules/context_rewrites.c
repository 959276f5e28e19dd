#include "stack/rules/context_rewrites.h"

#include "stack/rules/kernel_frames.h"
#include "stack/rules/stack_switch.h"
#include "stack/stack_moves.h"

#include <string.h>

enum { KEPT_IN_MIND = 64 };

static struct context_rewrites *state_of(const struct thread_stack *stack)
{
    return stack->rules.context_rewrites;
}

static bool runs_on_top(const struct thread_stack *stack, uint64_t address)
{
    const struct array *addresses = &state_of(stack)->run_on_top;
    for (size_t i = 0; i < addresses->count; i++)
        if (*(uint64_t *)array_at(addresses, i) == address)
            return true;
    return false;
}

static void learn_runs_on_top(struct thread_stack *stack, uint64_t address)
{
    struct array *addresses = &state_of(stack)->run_on_top;
    if (addresses->count < KEPT_IN_MIND && !runs_on_top(stack, address))
        *(uint64_t *)array_add(addresses) = address;
}

static bool is_injected_by_go(const struct thread_stack *stack, function_id function)
{
    return stack->code.go_role(stack->code.context, function) == GO_ROLE_INJECTED;
}

static struct context_rewrite *context_rewrite_at(const struct thread_stack *stack, size_t index)
{
    return array_at(&state_of(stack)->frames, index);
}

static void forget(struct thread_stack *stack, struct context_rewrite *context_rewrite)
{
    struct context_rewrite *end = context_rewrite_at(stack, state_of(stack)->frames.count - 1) + 1;
    memmove(context_rewrite, context_rewrite + 1,
            (size_t)(end - context_rewrite - 1) * sizeof(*context_rewrite));
    state_of(stack)->frames.count--;
}

void context_rewrites_begin(struct thread_stack *stack, const struct flow_event *event,
                            uint64_t interrupted, function_id restorer)
{
    struct activation begun = {
        .function = event->function, .kind = FRAME_SIGNAL, .return_address = interrupted};
    if (runs_on_top(stack, event->to) || is_injected_by_go(stack, event->function)) {
        stack_moves_enter(stack, &begun, event->to);
        return;
    }
    if (state_of(stack)->frames.count == KEPT_IN_MIND)
        forget(stack, context_rewrite_at(stack, 0));
    frame_id link = stack_moves_enter_movable(stack, &begun, event->to);
    *(struct context_rewrite *)array_add(&state_of(stack)->frames) =
        (struct context_rewrite){.link = link, .address = event->to, .restorer = restorer};
}

/* NULL if `frame` cannot be moved. */
static struct context_rewrite *find_context_rewrite(const struct thread_stack *stack,
                                                    frame_id frame)
{
    frame_id link = thread_stack_frame(stack, frame)->parent;
    if (thread_stack_frame(stack, frame)->kind != FRAME_SIGNAL)
        return NULL;
    for (size_t i = state_of(stack)->frames.count; i-- > 0;)
        if (context_rewrite_at(stack, i)->link == link)
            return context_rewrite_at(stack, i);
    return NULL;
}

static void settle_as_moved(struct thread_stack *stack, struct context_rewrite *context_rewrite)
{
    stack_moves_move(stack, context_rewrite->link);
    forget(stack, context_rewrite);
}

static void settle_as_on_top(struct thread_stack *stack, struct context_rewrite *context_rewrite)
{
    learn_runs_on_top(stack, context_rewrite->address);
    forget(stack, context_rewrite);
}

/* The interrupted frame below `frame`, which may itself have replaced another one. */
static frame_id find_never_rewritten(const struct thread_stack *stack, frame_id frame)
{
    while (find_context_rewrite(stack, frame) != NULL)
        frame = thread_stack_parent(stack, frame);
    return frame;
}

/* Whether the interrupted function would have returned to event->to: certainly, or, if its caller
 * was never seen and event->to is not the restorer, probably. */
static bool would_return_to(const struct thread_stack *stack,
                            const struct context_rewrite *context_rewrite,
                            const struct flow_event *event)
{
    frame_id interrupted = find_never_rewritten(stack, stack->leaf);
    const struct frame *frame = thread_stack_frame(stack, interrupted);
    if (frame->return_address != 0 || context_rewrite->restorer == FUNCTION_UNKNOWN)
        return frame->return_address == event->to;
    return context_rewrite->restorer != event->function &&
           thread_stack_is_root(stack, interrupted) && !thread_stack_is_start(stack, event->to);
}

bool context_rewrites_returns_for_interrupted(struct thread_stack *stack,
                                              const struct flow_event *event)
{
    struct context_rewrite *context_rewrite = find_context_rewrite(stack, stack->leaf);
    if (context_rewrite == NULL || thread_stack_leaf(stack)->return_address == event->to)
        return false;
    if (!would_return_to(stack, context_rewrite, event))
        return false;
    for (frame_id id = stack->leaf; context_rewrite != NULL;
         context_rewrite = find_context_rewrite(stack, id)) {
        id = thread_stack_parent(stack, id);
        settle_as_moved(stack, context_rewrite);
    }
    return true;
}

static bool may_be_new_stack(const struct context_rewrite *context_rewrite)
{
    return context_rewrite != NULL && context_rewrite->restorer != FUNCTION_UNKNOWN;
}

/* `address`: of the interrupted code, 0: any. */
static size_t count_new_stacks(const struct thread_stack *stack, uint64_t address)
{
    size_t count = 0;
    if (state_of(stack)->frames.count == 0 || stack->leaf == FRAME_NONE)
        return 0;
    for (frame_id id = stack->leaf; thread_stack_frame(stack, id)->kind != FRAME_PLACEHOLDER;
         id = thread_stack_parent(stack, id))
        if (may_be_new_stack(find_context_rewrite(stack, id)))
            count += address == 0 || kernel_frames_continues_at(
                                         thread_stack_frame(stack, id)->return_address, address);
    return count;
}

size_t context_rewrites_count(const struct thread_stack *stack)
{
    return count_new_stacks(stack, 0);
}

size_t context_rewrites_count_at(const struct thread_stack *stack, uint64_t address)
{
    return count_new_stacks(stack, address);
}

/* The stack that `context_rewrite` was begun on, by the restorer of `begun`, waits there. */
static void suspend_interrupted(struct thread_stack *stack,
                                const struct context_rewrite *context_rewrite, frame_id begun)
{
    struct activation restorer = {
        .function = context_rewrite->restorer,
        .kind = FRAME_SIGNAL_RETURN,
        .return_address = thread_stack_frame(stack, begun)->return_address,
    };
    frame_id interrupted = thread_stack_parent(stack, begun);
    suspended_stacks_add(stack, stack_moves_add_suspended(stack, interrupted, &restorer));
}

void context_rewrites_part(struct thread_stack *stack, frame_id leaf)
{
    if (state_of(stack)->frames.count == 0)
        return;
    for (frame_id id = leaf; thread_stack_frame(stack, id)->kind != FRAME_PLACEHOLDER;) {
        frame_id outer = thread_stack_parent(stack, id);
        struct context_rewrite *context_rewrite = find_context_rewrite(stack, id);
        if (may_be_new_stack(context_rewrite)) {
            suspend_interrupted(stack, context_rewrite, id);
            stack_moves_part(stack, context_rewrite->link, id);
            forget(stack, context_rewrite);
        }
        id = outer;
    }
}

/* An injected call returns to what was interrupted. */
static bool follow_return(struct thread_stack *stack, const struct flow_event *event)
{
    const struct frame *leaf = thread_stack_leaf(stack);
    if (leaf->kind != FRAME_SIGNAL || leaf->return_address != event->to)
        return false;
    struct context_rewrite *context_rewrite = find_context_rewrite(stack, stack->leaf);
    if (context_rewrite != NULL)
        settle_as_on_top(stack, context_rewrite);
    stack_moves_return(stack, thread_stack_parent(stack, stack->leaf));
    return true;
}

void context_rewrites_settle_handler(struct thread_stack *stack)
{
    struct context_rewrite *context_rewrite = find_context_rewrite(stack, stack->leaf);
    if (context_rewrite != NULL)
        settle_as_on_top(stack, context_rewrite);
}

static void settle_before_unwinding(struct thread_stack *stack, frame_id target)
{
    if (state_of(stack)->frames.count == 0)
        return;
    for (frame_id id = stack->leaf; id != target; id = thread_stack_parent(stack, id)) {
        struct context_rewrite *context_rewrite = find_context_rewrite(stack, id);
        if (context_rewrite == NULL)
            continue;
        bool lands_in_it = thread_stack_parent(stack, id) == target;
        if (lands_in_it || context_rewrite->restorer == FUNCTION_UNKNOWN)
            settle_as_on_top(stack, context_rewrite);
        else
            settle_as_moved(stack, context_rewrite);
    }
}

void context_rewrites_unwind(struct thread_stack *stack, frame_id target)
{
    settle_before_unwinding(stack, target);
    stack_moves_unwind(stack, target);
}

/* Other code is at them. */
static void forget_addresses(struct thread_stack *stack)
{
    state_of(stack)->run_on_top.count = 0;
}

static void begin(struct thread_stack *stack)
{
    stack->rules.context_rewrites->frames = array_of(sizeof(struct context_rewrite));
    stack->rules.context_rewrites->run_on_top = array_of(sizeof(uint64_t));
}

static void end(struct thread_stack *stack)
{
    array_free(&stack->rules.context_rewrites->frames);
    array_free(&stack->rules.context_rewrites->run_on_top);
}

const struct stack_rule context_rewrites_rule = {
    .state_size = sizeof(struct context_rewrites),
    .begin = begin,
    .end = end,
    .program_changed = forget_addresses,
    .follow = {[FLOW_RETURN] = follow_return},
};
