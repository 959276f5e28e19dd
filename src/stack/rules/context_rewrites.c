#include "stack/rules/context_rewrites.h"

#include <string.h>

enum { KEPT_IN_MIND = 64 };

static bool runs_on_top(const struct thread_stack *stack, uint64_t address)
{
    for (size_t i = 0; i < stack->run_on_top.count; i++)
        if (*(uint64_t *)array_at(&stack->run_on_top, i) == address)
            return true;
    return false;
}

static void learn_runs_on_top(struct thread_stack *stack, uint64_t address)
{
    if (stack->run_on_top.count < KEPT_IN_MIND && !runs_on_top(stack, address))
        *(uint64_t *)array_add(&stack->run_on_top) = address;
}

static bool is_injected_by_go(const struct thread_stack *stack, function_id function)
{
    return stack->code.go_role(stack->code.context, function) == GO_ROLE_INJECTED;
}

static struct redirect *redirect_at(const struct thread_stack *stack, size_t index)
{
    return array_at(&stack->redirects, index);
}

static void forget(struct thread_stack *stack, struct redirect *redirect)
{
    struct redirect *end = redirect_at(stack, stack->redirects.count - 1) + 1;
    memmove(redirect, redirect + 1, (size_t)(end - redirect - 1) * sizeof(*redirect));
    stack->redirects.count--;
}

void begin_redirect(struct thread_stack *stack, const struct flow_event *event,
                    uint64_t interrupted, function_id restorer)
{
    struct activation begun = {
        .function = event->function, .kind = FRAME_SIGNAL, .return_address = interrupted};
    if (runs_on_top(stack, event->to) || is_injected_by_go(stack, event->function)) {
        thread_stack_enter(stack, &begun, event->to);
        return;
    }
    if (stack->redirects.count == KEPT_IN_MIND)
        forget(stack, redirect_at(stack, 0));
    frame_id link = thread_stack_enter_movable(stack, &begun, event->to);
    *(struct redirect *)array_add(&stack->redirects) =
        (struct redirect){.link = link, .address = event->to, .restorer = restorer};
}

/* NULL when `frame` cannot be moved. */
static struct redirect *find_redirect(const struct thread_stack *stack, frame_id frame)
{
    frame_id link = thread_stack_frame(stack, frame)->parent;
    if (thread_stack_frame(stack, frame)->kind != FRAME_SIGNAL)
        return NULL;
    for (size_t i = stack->redirects.count; i-- > 0;)
        if (redirect_at(stack, i)->link == link)
            return redirect_at(stack, i);
    return NULL;
}

static void settle_as_moved(struct thread_stack *stack, struct redirect *redirect)
{
    thread_stack_move(stack, redirect->link);
    forget(stack, redirect);
}

static void settle_as_on_top(struct thread_stack *stack, struct redirect *redirect)
{
    learn_runs_on_top(stack, redirect->address);
    forget(stack, redirect);
}

/* What was interrupted below `frame`, which may itself have taken another's place. */
static frame_id find_never_redirected(const struct thread_stack *stack, frame_id frame)
{
    while (find_redirect(stack, frame) != NULL)
        frame = thread_stack_parent(stack, frame);
    return frame;
}

/* Whether what was interrupted would have returned to event->to: certainly, or, when its caller was
 * never seen and event->to is not the restorer, as far as one can tell. */
static bool would_return_to(const struct thread_stack *stack, const struct redirect *redirect,
                            const struct flow_event *event)
{
    frame_id interrupted = find_never_redirected(stack, stack->leaf);
    const struct frame *frame = thread_stack_frame(stack, interrupted);
    if (frame->return_address != 0 || redirect->restorer == FUNCTION_UNKNOWN)
        return frame->return_address == event->to;
    return redirect->restorer != event->function && thread_stack_is_root(stack, interrupted) &&
           !thread_stack_is_start(stack, event->to);
}

bool returns_for_interrupted(struct thread_stack *stack, const struct flow_event *event)
{
    struct redirect *redirect = find_redirect(stack, stack->leaf);
    if (redirect == NULL || thread_stack_leaf(stack)->return_address == event->to)
        return false;
    if (!would_return_to(stack, redirect, event))
        return false;
    for (frame_id id = stack->leaf; redirect != NULL; redirect = find_redirect(stack, id)) {
        id = thread_stack_parent(stack, id);
        settle_as_moved(stack, redirect);
    }
    return true;
}

bool return_to_interrupted(struct thread_stack *stack, const struct flow_event *event)
{
    const struct frame *leaf = thread_stack_leaf(stack);
    if (leaf->kind != FRAME_SIGNAL || leaf->return_address != event->to)
        return false;
    struct redirect *redirect = find_redirect(stack, stack->leaf);
    if (redirect != NULL)
        settle_as_on_top(stack, redirect);
    thread_stack_return(stack, thread_stack_parent(stack, stack->leaf));
    return true;
}

void settle_as_handler(struct thread_stack *stack)
{
    struct redirect *redirect = find_redirect(stack, stack->leaf);
    if (redirect != NULL)
        settle_as_on_top(stack, redirect);
}

void settle_before_unwinding(struct thread_stack *stack, frame_id target)
{
    if (stack->redirects.count == 0)
        return;
    for (frame_id id = stack->leaf; id != target; id = thread_stack_parent(stack, id)) {
        struct redirect *redirect = find_redirect(stack, id);
        if (redirect == NULL)
            continue;
        bool lands_in_it = thread_stack_parent(stack, id) == target;
        if (lands_in_it || redirect->restorer == FUNCTION_UNKNOWN)
            settle_as_on_top(stack, redirect);
        else
            settle_as_moved(stack, redirect);
    }
}
