#include "stack/rules/transactions.h"

#include "stack/rules/kernel_frames.h"
#include "stack/rules/unwinding.h"
#include "stack/stack_moves.h"

/* The greatest number of frames compared, from the end of a transaction and from its beginning
 * outwards to where both meet: all that it has written, including return addresses, must fit into
 * the first-level cache. */
enum { FRAMES_LIMIT = 256 };

static bool moves(const struct flow_event *event)
{
    return event->kind != FLOW_TRAP_PUSH && event->kind != FLOW_TRAP_POP &&
           event->kind != FLOW_STACK && event->kind != FLOW_CALLER && event->kind != FLOW_ABORT;
}

/* The event may be the first in a transaction, or the first after its end. */
static void before_event(struct thread_stack *stack, const struct flow_event *event)
{
    if (!moves(event))
        return;
    if (!(event->flags & FLOW_TRANSACTION))
        stack->rules.transactions->begun_in = FRAME_NONE;
    else if (stack->rules.transactions->begun_in == FRAME_NONE)
        stack->rules.transactions->begun_in = stack->leaf;
}

/* The frames that have been left since the transaction began, innermost first, and the place of
 * those entered since. */
struct undoing {
    frame_id left[FRAMES_LIMIT];
    unsigned count;
    frame_id common; /* the frame common to both stacks; FRAME_NONE: too far out */
};

static void list_frames_of_beginning(const struct thread_stack *stack, struct undoing *undoing)
{
    frame_id id = stack->rules.transactions->begun_in;
    undoing->count = 0;
    while (undoing->count < FRAMES_LIMIT) {
        undoing->left[undoing->count++] = id;
        if (thread_stack_frame(stack, id)->kind == FRAME_PLACEHOLDER)
            return;
        id = thread_stack_parent(stack, id);
    }
}

/* Index of `frame` in the list; the list's length if it is not there. */
static unsigned find_in_list(const struct undoing *undoing, frame_id frame)
{
    unsigned index = 0;
    while (index < undoing->count && undoing->left[index] != frame)
        index++;
    return index;
}

static struct undoing plan_undoing(const struct thread_stack *stack)
{
    struct undoing undoing;
    list_frames_of_beginning(stack, &undoing);
    undoing.common = stack->leaf;
    for (unsigned i = 0; i < FRAMES_LIMIT; i++) {
        unsigned index = find_in_list(&undoing, undoing.common);
        if (index < undoing.count) {
            undoing.count = index;
            return undoing;
        }
        if (thread_stack_frame(stack, undoing.common)->kind == FRAME_PLACEHOLDER)
            break;
        undoing.common = thread_stack_parent(stack, undoing.common);
    }
    undoing.common = FRAME_NONE;
    return undoing;
}

/* True if the stack is again as it was when the transaction began. */
static bool undo(struct thread_stack *stack)
{
    struct undoing undoing = plan_undoing(stack);
    if (undoing.common == FRAME_NONE)
        return false;
    if (undoing.count == 0)
        stack_moves_unwind(stack, undoing.common);
    while (undoing.count > 0)
        stack_moves_enter_again(stack, undoing.left[--undoing.count]);
    return true;
}

static bool begun_in(const struct thread_stack *stack, function_id function)
{
    return stack->rules.transactions->begun_in != FRAME_NONE &&
           thread_stack_frame(stack, stack->rules.transactions->begun_in)->function == function;
}

/* The code in which it continues is not traced. */
static void abort_unseen(struct thread_stack *stack)
{
    if (stack->rules.transactions->begun_in == FRAME_NONE)
        return;
    kernel_frames_leave_unseen(stack);
    undo(stack);
}

static bool follow_abort(struct thread_stack *stack, const struct flow_event *event)
{
    if (!event->to) {
        abort_unseen(stack);
        return true;
    }
    if (stack->leaf == FRAME_NONE) {
        stack_moves_begin_at(stack, event, false);
        return true;
    }
    kernel_frames_leave_unseen(stack);
    if (!begun_in(stack, event->function) || !undo(stack))
        unwinding_land(stack, event);
    return true;
}

const struct stack_rule transactions_rule = {
    .state_size = sizeof(struct transactions),
    .before_event = before_event,
    .follow = {[FLOW_ABORT] = follow_abort},
};
