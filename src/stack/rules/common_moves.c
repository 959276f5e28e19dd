#include "stack/rules/common_moves.h"

#include "stack/inlined_functions.h"
#include "stack/rules/goroutines.h"
#include "stack/rules/kernel_frames.h"
#include "stack/rules/ocaml_traps.h"
#include "stack/rules/stack_pointer.h"
#include "stack/rules/stack_switch.h"
#include "stack/rules/tail_calls.h"
#include "stack/rules/transactions.h"
#include "stack/stack_moves.h"

/* True if the stack is in no state that a rule checks before it makes a plain move. */
static bool is_at_ease(const struct thread_stack *stack)
{
    return stack->started && stack->leaf != FRAME_NONE && !transactions_run(stack) &&
           !stack_pointer_moved(stack) && !frame_tree_full(&stack->tree) &&
           !kernel_frames_is_outside(thread_stack_leaf(stack));
}

/* For functions that are not special (is_special_function), and that frames can have. */
static inline bool is_ordinary(const struct flow_event *event)
{
    return !(event->flags & FLOW_TRANSACTION) &&
           event->function - FUNCTION_FIRST <= FRAME_FUNCTION_MAXIMUM - FUNCTION_FIRST;
}

/* CALLERS_MAX: callers that are cached. UNCOUNTED_MAX: frames that are not counted until a rule
 * needs the counts. */
enum { CALLERS_MAX = 64, UNCOUNTED_MAX = 8 };

struct caller {
    const struct frame *frame;
    frame_id id;
};

/* The progress through a batch.
 *
 * Callers are cached, so that a return need not wait for the memory of its call. Most frames that
 * are entered are left again before a rule needs to know which functions are active: frames are
 * counted only when one does. */
struct walk {
    struct thread_stack *stack;
    const struct frame *leaf; /* stack->leaf */
    struct caller *callers;   /* of the leaf, the innermost last; cached */
    uint32_t caller_count;    /* 0: look in the tree */
    uint32_t
        uncounted;   /* this many innermost frames are not in stack->open: the leaf and callers */
    bool has_traps;  /* an OCaml handler is set; only rules set and drop them */
    bool is_alone;   /* none is, and no other stack is suspended */
    bool knows_open; /* and only functions on the stack are active */
};

static inline struct caller caller_of_leaf(const struct walk *walk)
{
    if (walk->caller_count > 0)
        return walk->callers[walk->caller_count - 1];
    frame_id id = thread_stack_parent(walk->stack, walk->stack->leaf);
    return (struct caller){thread_stack_frame(walk->stack, id), id};
}

/* The frame `calls` calls further out than the leaf, one of those not counted. */
static inline const struct frame *uncounted_frame(const struct walk *walk, uint32_t calls)
{
    return calls == 0 ? walk->leaf : walk->callers[walk->caller_count - calls].frame;
}

static void count_all(struct walk *walk)
{
    for (uint32_t i = 0; i < walk->uncounted; i++)
        stack_moves_count(walk->stack, uncounted_frame(walk, i)->function);
    walk->uncounted = 0;
}

static inline bool is_open(struct walk *walk, function_id function)
{
    if (walk->uncounted > UNCOUNTED_MAX)
        count_all(walk);
    for (uint32_t i = 0; i < walk->uncounted; i++)
        if (uncounted_frame(walk, i)->function == function)
            return true;
    return active_functions_count(&walk->stack->open, function) > 0;
}

static inline void remember_caller(struct walk *walk)
{
    if (walk->caller_count == CALLERS_MAX) {
        count_all(walk);
        walk->caller_count = 0;
    }
    struct caller *caller = &walk->callers[walk->caller_count++];
    caller->frame = walk->leaf;
    caller->id = walk->stack->leaf;
}

/* The leaf has ended. */
static inline void discount_leaf(struct walk *walk)
{
    if (walk->uncounted > 0)
        walk->uncounted--;
    else
        stack_moves_discount(walk->stack, walk->leaf->function);
}

/* `kind` is what enters it. */
static inline __attribute__((always_inline)) void enter(struct walk *walk, frame_id parent,
                                                        const struct activation *activation,
                                                        uint64_t address, enum history_kind kind)
{
    frame_id leaf = stack_moves_enter_uncounted(walk->stack, parent, activation, address, kind);
    walk->leaf = thread_stack_frame(walk->stack, leaf);
    walk->uncounted++;
}

/* Not for the leaf's own function: that may be a local call. */
static inline bool call_plainly(struct walk *walk, const struct flow_event *event)
{
    struct activation called = {
        .function = event->function, .kind = FRAME_FUNCTION, .return_address = event->next};
    frame_id caller = walk->stack->leaf;
    if (walk->leaf->function == event->function)
        return false;
    stack_moves_advance(walk->stack, event->time);
    remember_caller(walk);
    enter(walk, caller, &called, event->to, HISTORY_ENTER);
    return true;
}

static inline bool may_go_on_elsewhere(const struct walk *walk, uint64_t address)
{
    return walk->has_traps || suspended_stacks_may_continue_at(walk->stack, address);
}

/* Only to the caller of the leaf. */
static inline bool return_plainly(struct walk *walk, const struct flow_event *event)
{
    struct thread_stack *stack = walk->stack;
    const struct frame *leaf = walk->leaf;
    bool called = leaf->kind == FRAME_FUNCTION || leaf->kind == FRAME_LOCAL;
    if (leaf->return_address != event->to || !called || event->next != 0 ||
        (!walk->is_alone && may_go_on_elsewhere(walk, event->to)))
        return false;
    struct caller caller = caller_of_leaf(walk);
    if (caller.frame->function != event->function || caller.frame->kind == FRAME_PLACEHOLDER)
        return false;
    stack_moves_advance(stack, event->time);
    discount_leaf(walk);
    if (walk->caller_count > 0)
        walk->caller_count--;
    walk->leaf = caller.frame;
    stack_moves_return_uncounted(stack, caller.id);
    return true;
}

static bool stays_by_rule(struct walk *walk, const struct flow_event *event)
{
    if (walk->has_traps || goroutines_runs_gogo(walk->stack))
        return false;
    count_all(walk);
    return tail_calls_stays_in_leaf(walk->stack, event);
}

/* An indirect jump: through a table of the linker, a thunk, a pointer at the end of a function. If
 * its target function is not active, it cannot lead to a frame further out. */
static inline bool stays_plainly(struct walk *walk, const struct flow_event *event)
{
    if (walk->knows_open && !walk->stack->open.has_gogo && !(event->flags & FLOW_LOADS_STACK) &&
        !is_open(walk, event->function))
        return true;
    return stays_by_rule(walk, event);
}

static inline bool jump_plainly(struct walk *walk, const struct flow_event *event)
{
    stack_moves_advance(walk->stack, event->time); /* the code depends on the time */
    bool is_plain = (event->flags & (FLOW_DIRECT | FLOW_LOADS_STACK)) == FLOW_DIRECT;
    if (event->next != 0 || (!is_plain && !stays_plainly(walk, event)))
        return false;
    if (walk->leaf->function == event->function)
        return true;
    struct activation activation = stack_moves_taken_over(walk->stack, event->function);
    discount_leaf(walk);
    enter(walk, walk->leaf->parent, &activation, event->to, HISTORY_REPLACE);
    return true;
}

static inline bool move_plainly(struct walk *walk, const struct flow_event *event)
{
    if (!is_ordinary(event))
        return false;
    if (event->kind == FLOW_CALL)
        return call_plainly(walk, event);
    if (event->kind == FLOW_RETURN)
        return return_plainly(walk, event);
    return event->kind == FLOW_JUMP && jump_plainly(walk, event);
}

/* As many of the events as there are ids left for the frames that they may add. */
static size_t count_with_room(const struct thread_stack *stack, size_t count)
{
    uint32_t room = stack->tree.limit - FRAMES_PER_EVENT - stack->tree.frames.count + 1;
    return count < room ? count : room;
}

static bool all_jump_directly(const struct flow_event *events, size_t count)
{
    size_t i = 0;
    while (i < count && (events[i].kind == FLOW_INLINED ||
                         (events[i].kind == FLOW_JUMP && events[i].flags & FLOW_DIRECT)))
        i++;
    return i == count;
}

/* Leaves the state as the rules do after moves. A recorded pointer is that of the code before;
 * direct jumps do not change that (end_move_by). */
static void be_at_ease(struct thread_stack *stack, const struct flow_event *moves, size_t count)
{
    while (count > 0 && moves[count - 1].kind == FLOW_INLINED)
        count--; /* which the rules do not see */
    if (count == 0)
        return;
    thread_stack_followed(stack, moves[count - 1].kind);
    if (!all_jump_directly(moves, count))
        stack_pointer_branched(stack);
}

size_t common_moves_follow(struct thread_stack *stack, const struct flow_event *events,
                           size_t count)
{
    size_t done = 0;
    if (!is_at_ease(stack))
        return 0;
    struct caller callers[CALLERS_MAX];
    bool has_traps = ocaml_traps_are_set(stack);
    bool is_alone = !has_traps && suspended_stacks_none(stack);
    struct walk walk = {
        .stack = stack,
        .leaf = thread_stack_leaf(stack),
        .callers = callers,
        .has_traps = has_traps,
        .is_alone = is_alone,
        .knows_open = is_alone && !thread_stack_may_be_open_before(stack),
    };
    count = count_with_room(stack, count);
    while (done < count) {
        if (events[done].kind == FLOW_INLINED)
            done +=
                inlined_functions_follow(stack, walk.leaf->function, events + done, count - done);
        else if (move_plainly(&walk, &events[done]))
            done++;
        else
            break;
    }
    count_all(&walk);
    if (done > 0)
        be_at_ease(stack, events, done);
    return done;
}
