#include "engine/translator/transcode/call_stack.h"

#include "packet/callchain_snapshot.h"

/* The assumed position of an unknown stack. */
static const uint64_t unknown_pointer = (uint64_t)1 << 46;

enum { PUSHED = 8 };

void call_stack_begin(struct call_stack *stack, struct pt_encoder *encoder, bool reports)
{
    *stack = (struct call_stack){
        .pointer = unknown_pointer,
        .suspended = suspended_calls_none(),
        .reports = reports,
    };
    pt_encoder_know_stack(encoder, &stack->pointer);
}

void call_stack_free(struct call_stack *stack)
{
    suspended_calls_free(&stack->suspended);
}

void call_stack_call(struct call_stack *stack)
{
    stack->pointer -= PUSHED;
}

/* The newest call that returns to `pc`, among those that a return may well end. */
static const struct pt_call *find_call(const struct pt_encoder *encoder, uint64_t pc)
{
    enum { MOST = 64 };
    const struct pt_calls *calls = &encoder->calls;
    uint64_t depth = encoder->depth;
    for (unsigned i = 0; i < MOST && depth > calls->base && depth - calls->base <= calls->mask + 1;
         i++) {
        const struct pt_call *call = pt_calls_at(calls, --depth);
        if (call->return_address == pc)
            return call;
    }
    return NULL;
}

void call_stack_return(struct call_stack *stack, const struct pt_encoder *encoder, uint64_t pc)
{
    const struct pt_call *call = find_call(encoder, pc);
    if (call)
        stack->pointer = call->slot + PUSHED;
}

/* The stack pointer is `pointer`, for the first time: calls so far lie relative to that. */
static void know(struct call_stack *stack, struct pt_encoder *encoder, uint64_t pointer)
{
    struct pt_calls *calls = &encoder->calls;
    uint64_t moved = pointer - stack->pointer, depth = encoder->depth;
    if (stack->known)
        return;
    stack->known = true;
    while (depth > calls->base && encoder->depth - depth <= calls->mask)
        pt_calls_at(calls, --depth)->slot += moved;
}

/* What was known of the stack that is left is kept; of the other one it may be known, too. */
static void change_stacks(struct call_stack *stack, struct pt_encoder *encoder, uint64_t from,
                          uint64_t to)
{
    struct suspended_stack left = {.pointer = to, .psb = UINT64_MAX};
    suspended_calls_add(&stack->suspended, encoder, from);
    if (!suspended_calls_take(&stack->suspended, encoder, to, &left))
        pt_encoder_forget_calls(encoder);
    stack->pointer = left.pointer;
    stack->psb = left.psb;
    stack->switches = true;
    stack->due = false;
}

void call_stack_arrive(struct call_stack *stack, struct pt_encoder *encoder, uint64_t pc)
{
    const struct pt_calls *calls = &encoder->calls;
    bool known = encoder->depth > calls->base &&
                 pt_calls_at(calls, encoder->depth - 1)->return_address == pc;
    stack->switches = false;
    if (known)
        stack->pointer = pt_calls_at(calls, encoder->depth - 1)->slot + PUSHED;
    else
        pt_encoder_forget_calls(encoder); /* another stack has begun there */
    stack->due = known && stack->psb != encoder->last_psb;
}

void call_stack_load(struct call_stack *stack, struct pt_encoder *encoder, uint64_t from,
                     uint64_t to)
{
    know(stack, encoder, from);
    if (stack->reports && (suspended_calls_has(&stack->suspended, to) ||
                           !pt_calls_same_stack(&encoder->calls, encoder->depth, from, to))) {
        change_stacks(stack, encoder, from, to);
        return;
    }
    stack->pointer = to;
    /* How many calls ended is not known: their places are only known to be this high at most. */
    if (to > from + PUSHED)
        pt_encoder_forget_calls(encoder);
    else
        pt_encoder_stack_moved(encoder, from);
}

void call_stack_enter_handler(struct call_stack *stack, struct pt_encoder *encoder, uint64_t ip,
                              uint64_t from, uint64_t to)
{
    enum { SAME_STACK = 1 << 20 }; /* bytes */
    know(stack, encoder, from);
    stack->pointer = to;
    if (from - to < SAME_STACK) {
        pt_encoder_push_interrupted(encoder, ip, from);
        return;
    }
    /* Handlers on such stacks within each other are not followed. */
    stack->handler_runs = !stack->handler_runs;
    stack->interrupted = pt_encoder_save_calls(encoder);
    stack->interrupted_pointer = from;
    pt_encoder_forget_calls(encoder);
}

/* The newest interruption among the calls in progress is what it returns to. */
static void drop_handler(struct call_stack *stack, const struct pt_encoder *encoder)
{
    const struct pt_calls *calls = &encoder->calls;
    uint64_t depth = encoder->depth;
    if (depth - calls->base > calls->mask + 1)
        return;
    while (depth > calls->base) {
        const struct pt_call *call = pt_calls_at(calls, --depth);
        if (call->return_address & CALLCHAIN_INTERRUPTED) {
            stack->pointer = call->slot + 2 * PUSHED;
            return;
        }
    }
}

void call_stack_leave_handler(struct call_stack *stack, struct pt_encoder *encoder)
{
    if (!stack->handler_runs) {
        drop_handler(stack, encoder);
        return;
    }
    stack->handler_runs = false;
    stack->pointer = stack->interrupted_pointer;
    pt_encoder_restore_calls(encoder, &stack->interrupted);
}

void call_stack_learn(struct call_stack *stack, struct pt_encoder *encoder, uint64_t pointer,
                      const struct array *calls, bool all)
{
    stack->known = true;
    stack->pointer = pointer;
    stack->switches = stack->due = false;
    /* The innermost are what packets can report. */
    size_t most = encoder->calls.mask, left_out = calls->count > most ? calls->count - most : 0;
    const struct pt_call *first = calls->count ? array_at(calls, left_out) : NULL;
    pt_encoder_know_calls(encoder, first, calls->count - left_out, all && left_out == 0);
}

void call_stack_forget(struct call_stack *stack, struct pt_encoder *encoder)
{
    stack->handler_runs = stack->switches = stack->due = false;
    suspended_calls_forget(&stack->suspended);
    pt_encoder_forget_calls(encoder);
}
