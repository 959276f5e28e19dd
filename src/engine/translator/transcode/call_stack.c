#include "engine/translator/transcode/call_stack.h"

#include "packet/callchain_snapshot.h"

#include <string.h>

/* The assumed position of an unknown stack. */
static const uint64_t unknown_pointer = (uint64_t)1 << 46;

enum { PUSHED = 8 };

/* A handler has begun. */
struct interruption {
    uint64_t pointer; /* the interrupted code's stack pointer */
    uint64_t entry;   /* the handler's, where its return address lies */
};

enum { MOST_INTERRUPTIONS = 1024 };

void call_stack_begin(struct call_stack *stack, struct pt_encoder *encoder, bool reports)
{
    *stack = (struct call_stack){
        .pointer = unknown_pointer,
        .suspended = suspended_calls_none(),
        .copied = suspended_calls_none(),
        .interruptions = array_of(sizeof(struct interruption)),
        .reports = reports,
    };
    pt_encoder_know_stack(encoder, &stack->pointer);
}

void call_stack_free(struct call_stack *stack)
{
    suspended_calls_free(&stack->suspended);
    suspended_calls_free(&stack->copied);
    array_free(&stack->interruptions);
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

/* Whether the return to `pc` is that of a call of the stack that continued: of the innermost one, by a function that has run on
 * top of it, or of one further out, by a function in which longjmp has continued. Then the stack's calls are known again, and those up
 * to that one have ended. */
static bool return_from_top(struct call_stack *stack, struct pt_encoder *encoder, uint64_t pc)
{
    const struct pt_saved_calls *continued = &stack->continued;
    uint64_t depth = continued->depth, ended = 0, known = depth - continued->calls.base;
    if (!stack->may_be_on_top || encoder->depth != depth || encoder->calls.base != depth)
        return false;
    while (ended < known && ended <= stack->ended_at_most &&
           pt_calls_at(&encoder->calls, depth - 1 - ended)->return_address != pc)
        ended++;
    if (ended == known || ended > stack->ended_at_most)
        return false;
    stack->may_be_on_top = false;
    stack->continued.depth -= ended + 1;
    stack->pointer = pt_calls_at(&encoder->calls, stack->continued.depth)->slot + PUSHED;
    pt_encoder_restore_calls(encoder, continued);
    return true;
}

void call_stack_return(struct call_stack *stack, struct pt_encoder *encoder, uint64_t pc)
{
    const struct pt_call *call = find_call(encoder, pc);
    if (call)
        stack->pointer = call->slot + PUSHED;
    else if (return_from_top(stack, encoder, pc))
        stack->due = stack->psb != encoder->last_psb;
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

void call_stack_reported(struct call_stack *stack, bool reported)
{
    stack->due = false;
    stack->unreported = !reported;
}

/* How the stack that runs is left. */
static struct suspended_stack left_with(const struct call_stack *stack,
                                        const struct pt_encoder *encoder, uint64_t pointer)
{
    bool unknown = stack->due || stack->unreported;
    return (struct suspended_stack){pointer, encoder->previous->pc,
                                    unknown ? UINT64_MAX : encoder->last_psb};
}

static void suspend(struct call_stack *stack, struct pt_encoder *encoder,
                    const struct stack_load *load)
{
    struct suspended_stack left = left_with(stack, encoder, load->before);
    if (load->numbers.left != 0)
        suspended_calls_add_numbered(&stack->copied, encoder, &left, load->numbers.left);
    else
        suspended_calls_add(&stack->suspended, encoder, &left);
}

/* Whether its calls are known. */
static bool resume(struct call_stack *stack, struct pt_encoder *encoder,
                   const struct stack_load *load, struct suspended_stack *left)
{
    if (load->numbers.continues != 0)
        return suspended_calls_take_numbered(&stack->copied, encoder, load->numbers.continues,
                                             left);
    return suspended_calls_take(&stack->suspended, encoder, load->after, encoder->previous->pc,
                                left);
}

/* What was known of the stack that is left is kept; of the other one it may be known, too. */
static void change_stacks(struct call_stack *stack, struct pt_encoder *encoder,
                          const struct stack_load *load)
{
    struct suspended_stack left = {.pointer = load->after, .psb = UINT64_MAX};
    suspend(stack, encoder, load);
    if (!resume(stack, encoder, load, &left))
        pt_encoder_forget_calls(encoder);
    stack->ended_at_most =
        (load->after - left.pointer) / PUSHED; /* each call has pushed as much at least */
    stack->pointer = left.pointer;
    stack->psb = left.psb;
    stack->unreported = false;
    stack->switches = true;
    stack->due = false;
}

/* Another stack has begun, or a function runs on top of the one that was suspended there. */
static void arrive_elsewhere(struct call_stack *stack, struct pt_encoder *encoder)
{
    stack->may_be_on_top = encoder->depth > encoder->calls.base;
    stack->continued = pt_encoder_save_calls(encoder);
    pt_encoder_forget_calls(encoder);
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
        arrive_elsewhere(stack, encoder);
    stack->due = known && stack->psb != encoder->last_psb;
}

static bool changes_stacks(const struct call_stack *stack, const struct pt_encoder *encoder,
                           const struct stack_load *load)
{
    return load->numbers.left != 0 || load->numbers.continues != 0 ||
           suspended_calls_has(&stack->suspended, load->after) ||
           !pt_calls_same_stack(&encoder->calls, encoder->depth, load->before, load->after);
}

void call_stack_load(struct call_stack *stack, struct pt_encoder *encoder,
                     const struct stack_load *load)
{
    uint64_t from = load->before, to = load->after;
    know(stack, encoder, from);
    stack->may_be_on_top = false;
    if (stack->reports && changes_stacks(stack, encoder, load)) {
        change_stacks(stack, encoder, load);
        return;
    }
    stack->pointer = to;
    /* How many calls ended is not known: their places are only known to be this high at most. */
    if (to > from + PUSHED)
        pt_encoder_forget_calls(encoder);
    else
        pt_encoder_stack_moved(encoder, from);
}

void call_stack_copy(struct call_stack *stack, struct pt_encoder *encoder,
                     const struct stack_load *load)
{
    struct stack_numbers numbers = load->numbers;
    struct suspended_stack left = left_with(stack, encoder, load->before);
    know(stack, encoder, load->before);
    if (numbers.left != 0)
        suspended_calls_add_numbered(&stack->copied, encoder, &left, numbers.left);
    left = (struct suspended_stack){.pointer = load->after, .psb = UINT64_MAX};
    bool knows = numbers.continues != 0 &&
                 suspended_calls_take_numbered(&stack->copied, encoder, numbers.continues, &left);
    if (!knows)
        pt_encoder_forget_calls(encoder);
    stack->may_be_on_top = false;
    stack->pointer = load->after;
    stack->due = knows && left.psb != encoder->last_psb;
    stack->unreported = !knows;
}

static void note_interruption(struct array *interruptions, uint64_t pointer, uint64_t entry)
{
    struct interruption *first = interruptions->elements;
    if (interruptions->count == MOST_INTERRUPTIONS)
        memmove(first, first + 1, --interruptions->count * sizeof *first);
    *(struct interruption *)array_add(interruptions) = (struct interruption){pointer, entry};
}

void call_stack_enter_handler(struct call_stack *stack, struct pt_encoder *encoder, uint64_t ip,
                              uint64_t from, uint64_t to)
{
    know(stack, encoder, from);
    stack->pointer = to;
    note_interruption(&stack->interruptions, from, to);
    if (to < from) { /* on the same stack, or on one that lies further down: both look alike */
        pt_encoder_push_interrupted(encoder, ip, from);
        return;
    }
    /* Calls are active below the stack pointer. Handlers on such stacks within each other are not followed. */
    stack->handler_runs = !stack->handler_runs;
    stack->interrupted = pt_encoder_save_calls(encoder);
    stack->interrupted_pointer = from;
    pt_encoder_forget_calls(encoder);
}

/* The newest interruption among the calls in progress; NULL: none. */
static const struct pt_call *newest_interrupted(const struct pt_encoder *encoder)
{
    const struct pt_calls *calls = &encoder->calls;
    uint64_t depth = encoder->depth;
    if (depth - calls->base > calls->mask + 1)
        return NULL;
    while (depth > calls->base) {
        const struct pt_call *call = pt_calls_at(calls, --depth);
        if (call->return_address & CALLCHAIN_INTERRUPTED)
            return call;
    }
    return NULL;
}

/* Its stack pointer; 0: none. */
static uint64_t newest_interrupted_pointer(const struct pt_encoder *encoder)
{
    const struct pt_call *call = newest_interrupted(encoder);
    return call ? call->slot + 2 * PUSHED : 0;
}

/* Of the handler whose return has taken the stack pointer to `pointer`; 0: its beginning is not known. */
static uint64_t take_interruption(struct call_stack *stack, const struct pt_encoder *encoder,
                                  uint64_t pointer)
{
    struct interruption *first = stack->interruptions.elements;
    size_t index = stack->interruptions.count;
    while (index-- > 0)
        if (first[index].entry + PUSHED == pointer) {
            uint64_t interrupted = first[index].pointer;
            size_t after = --stack->interruptions.count - index;
            memmove(first + index, first + index + 1, after * sizeof *first);
            return interrupted;
        }
    return newest_interrupted_pointer(encoder);
}

struct stack_load call_stack_restore(struct call_stack *stack, const struct pt_encoder *encoder,
                                     uint64_t pointer, uint64_t restored)
{
    uint64_t interrupted = take_interruption(stack, encoder, pointer);
    bool changes = interrupted != 0 && interrupted != restored;
    stack->restored = changes ? (struct stack_load){.before = interrupted, .after = restored}
                              : (struct stack_load){0};
    return stack->restored;
}

/* Back to the interrupted calls. */
static void drop_handler(struct call_stack *stack, struct pt_encoder *encoder)
{
    uint64_t interrupted = newest_interrupted_pointer(encoder);
    if (stack->handler_runs) {
        stack->pointer = stack->interrupted_pointer;
        pt_encoder_restore_calls(encoder, &stack->interrupted);
    } else if (interrupted != 0) {
        stack->pointer = interrupted;
    }
    stack->handler_runs = false;
}

/* All that is known of a stack that was interrupted is active: no call of it returns when it continues. */
void call_stack_leave_handler(struct call_stack *stack, struct pt_encoder *encoder)
{
    struct stack_load restored = stack->restored;
    drop_handler(stack, encoder);
    if (restored.before == 0)
        return;
    stack->restored = (struct stack_load){0};
    stack->pointer = restored.before;
    pt_encoder_stack_moved(encoder, restored.before);
    call_stack_load(stack, encoder, &restored);
    if (stack->switches)
        stack->due = stack->psb != UINT64_MAX && stack->psb != encoder->last_psb;
    stack->switches = false;
}

/* Whether the newest `calls` but `ended` that the encoder knows are these. Their places on the stack are not compared:
 * those that were not learned from a copy are estimates. */
static bool knows_calls(const struct pt_encoder *encoder, const struct array *calls, uint64_t ended)
{
    uint64_t known = encoder->depth - encoder->calls.base, first = known - ended - calls->count;
    if (known < ended + calls->count)
        return false;
    for (size_t i = 0; i < calls->count; i++) {
        const struct pt_call *call = array_at(calls, i);
        uint64_t number = encoder->calls.base + first + i;
        if (pt_calls_at(&encoder->calls, number)->return_address != call->return_address)
            return false;
    }
    return true;
}

/* A copy that holds a part of the stack shows what is known already, but for a few calls that may have ended: then what
 * is further out stays known. Puts that in front of `calls`. Returns whether these are now all. */
static bool keep_outer_calls(const struct pt_encoder *encoder, struct array *calls)
{
    enum { MOST_ENDED = 8 };
    const struct pt_calls *known = &encoder->calls;
    uint64_t count = encoder->depth - known->base, ended = 0;
    if (calls->count == 0 || count > known->mask + 1)
        return false;
    while (ended <= MOST_ENDED && !knows_calls(encoder, calls, ended))
        ended++;
    if (ended > MOST_ENDED)
        return false;
    uint64_t outer = count - ended - calls->count;
    for (uint64_t i = 0; i < outer; i++)
        *(struct pt_call *)array_insert(calls, i) = *pt_calls_at(known, known->base + i);
    return known->all;
}

/* A copy of a handler's stack, which ends at `pointer`, shows the context that the handler returns to. That may be another
 * by now than the interrupted one, which was logged when the handler began: then puts that in its place. Returns whether
 * it has. */
static bool keep_interrupted(const struct pt_encoder *encoder, uint64_t pointer,
                             struct array *calls)
{
    const struct pt_call *known = newest_interrupted(encoder);
    size_t index = calls->count;
    while (index > 0 && !(((const struct pt_call *)array_at(calls, index - 1))->return_address &
                          CALLCHAIN_INTERRUPTED))
        index--;
    if (!known || known->slot < pointer || index == 0)
        return false;
    struct pt_call *found = array_at(calls, index - 1);
    if (found->slot == known->slot)
        return false;
    *found = *known;
    calls->count -= index - 1;
    memmove(calls->elements, found, calls->count * sizeof *found);
    return true;
}

void call_stack_learn(struct call_stack *stack, struct pt_encoder *encoder, uint64_t pointer,
                      struct array *calls, bool all)
{
    all = !keep_interrupted(encoder, pointer, calls) && all;
    all = all || keep_outer_calls(encoder, calls);
    stack->known = true;
    stack->pointer = pointer;
    stack->switches = stack->due = stack->may_be_on_top = false;
    /* The innermost are what packets can report. */
    size_t most = encoder->calls.mask, left_out = calls->count > most ? calls->count - most : 0;
    const struct pt_call *first = calls->count ? array_at(calls, left_out) : NULL;
    pt_encoder_know_calls(encoder, first, calls->count - left_out, all && left_out == 0);
}

void call_stack_forget(struct call_stack *stack, struct pt_encoder *encoder)
{
    stack->handler_runs = stack->switches = stack->due = stack->may_be_on_top = false;
    stack->interruptions.count = 0;
    stack->restored = (struct stack_load){0};
    suspended_calls_forget(&stack->suspended);
    suspended_calls_forget(&stack->copied);
    pt_encoder_forget_calls(encoder);
}
