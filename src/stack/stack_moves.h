/* The moves that a call stack can make: segments begin and end, frames are entered, returned from,
 * unwound and replaced, callers are discovered, another stack continues.
 *
 * The only functions that change a stack and record that in its history. They keep leaf, counts and
 * history consistent, so the history is well nested by construction, whatever the events were. All
 * moves happen at stack->now.
 *
 * Called by the rules, which decide what moves a flow event means.
 */
#ifndef MAGIC_TRACE_STACK_STACK_MOVES_H
#define MAGIC_TRACE_STACK_STACK_MOVES_H

#include "stack/inlined_frames.h"
#include "stack/thread_stack.h"

/* Time passes. A time before that of an earlier event is ignored. */
static inline void stack_moves_advance(struct thread_stack *stack, struct ticks time)
{
    if (time.value > stack->now.value)
        stack->now = time;
}

/* --- Segments begin. There must be none. --- */

/* The leaf is `activation`, at `address`. `seen`: it begins at this moment, not earlier. */
void stack_moves_begin(struct thread_stack *stack, const struct activation *activation,
                       uint64_t address, bool seen);
/* In event->function at event->to. */
void stack_moves_begin_at(struct thread_stack *stack, const struct flow_event *event, bool seen);
/* Likewise, not seen, in one of several stacks, unknown in which. */
void stack_moves_begin_in_one_of(struct thread_stack *stack, const struct flow_event *event);
/* ... or, most likely, in the caller of its leaf. */
void stack_moves_begin_assumed(struct thread_stack *stack, const struct flow_event *event);
/* Another stack continues in its frame `leaf` (which may be its placeholder: then its caller is
 * discovered to be `function`), at `address`. */
void stack_moves_resume(struct thread_stack *stack, frame_id leaf, function_id function,
                        uint64_t address);

/* --- Segments end. --- */

/* For a reason HISTORY_END_...; does nothing if there is no segment. */
void stack_moves_end(struct thread_stack *stack, enum history_kind reason);
/* What runs is unknown from here on, until the next one begins. Fills in the times of `gap`. */
void stack_moves_begin_gap(struct thread_stack *stack, const struct gap *gap);
/* A signal ends the process in this thread; the caller ends the segment next. `words` must outlive
 * the stack. */
void stack_moves_die(struct thread_stack *stack, const char *words);
/* Another stack continues, which the caller begins or resumes next. */
void stack_moves_leave(struct thread_stack *stack);
/* The next one begins at once: control is at event->to in event->function, in a frame further out,
 * unknown in which. `landed`: what is known of that place; `fallback` as in struct segment;
 * `called`: in one that has made a call that returns there. */
void stack_moves_land(struct thread_stack *stack, const struct flow_event *event,
                      struct unwind_place landed, frame_id fallback, bool called);

/* --- Inside a segment. --- */

/* `activation` begins on top of the leaf. `address` is one in its function, 0: none. */
void stack_moves_enter(struct thread_stack *stack, const struct activation *activation,
                       uint64_t address);
/* As stack_moves_enter, at a time before now and after the last move. */
void stack_moves_enter_earlier(struct thread_stack *stack, struct ticks time,
                               const struct activation *activation, uint64_t address);
/* As stack_moves_enter, but the frame may turn out to have replaced the leaf: stack_moves_move,
 * with the value returned here, then moves it there in everything recorded. */
frame_id stack_moves_enter_movable(struct thread_stack *stack, const struct activation *activation,
                                   uint64_t address);
void stack_moves_move(struct thread_stack *stack, frame_id link);
/* ... or it, the frame `begun`, may turn out to have begun a stack of its own, which must not be running: its callers
 * are then unknown in everything recorded. */
void stack_moves_part(struct thread_stack *stack, frame_id link, frame_id begun);
/* The frame of `activation` on top of `caller`, in a stack that is not running. */
frame_id stack_moves_add_suspended(struct thread_stack *stack, frame_id caller,
                                   const struct activation *activation);
/* Cuts the stack to the parent of `frame`, which is on it; `frame` begins again. */
void stack_moves_enter_again(struct thread_stack *stack, frame_id frame);
/* Cuts the stack to `frame`, which is on it; no change if it is the leaf. Those above have
 * returned, or were unwound. */
void stack_moves_return(struct thread_stack *stack, frame_id frame);
void stack_moves_unwind(struct thread_stack *stack, frame_id frame);
/* Another function takes over the leaf's frame: the same kind, the same return address. No change
 * if it is the leaf's own. */
void stack_moves_replace(struct thread_stack *stack, function_id function, uint64_t address);
/* All frames end, and their caller turns out to be `function`, at `address`. */
void stack_moves_discover(struct thread_stack *stack, function_id function, uint64_t address);

/* --- What is learned of the segment's callers. --- */

/* The outermost frame turns out to have been called by `caller`, which was active before the segment and still is: no other
 * stack has continued. */
void stack_moves_gain_callers(struct thread_stack *stack, frame_id caller);
/* It turns out to have been called by `caller` and to return to `address` (0: unknown); another stack had run before. */
void stack_moves_learn_callers(struct thread_stack *stack, frame_id caller, uint64_t address);
/* `frame`, the outermost one that is known, was called by `function` and returns to `address`; or
 * it is a signal handler that has `interrupted` it there. Returns the caller. */
frame_id stack_moves_learn_caller(struct thread_stack *stack, frame_id frame, function_id function,
                                  uint64_t address, bool interrupted);
/* `root`, the outermost known frame of a stack that need not be running, turns out to be a frame like frames[0], and to have
 * `count` callers like those that follow there: the last of these returns to an unknown place. None when ids run out. */
void stack_moves_copy_callers(struct thread_stack *stack, frame_id root, const frame_id *frames,
                              size_t count);
/* `leaf` once more, with its callers up to the one before `end`, whose caller is unknown. Itself when ids run out. */
frame_id stack_moves_copy_frames(struct thread_stack *stack, frame_id leaf, frame_id end);
/* The stack that runs was seen to begin. */
void stack_moves_note_beginning(struct thread_stack *stack);
/* `frame`, the outermost one that is known, has no caller. */
void stack_moves_learn_outermost(struct thread_stack *stack, frame_id frame);

/* --- For common_moves.c alone, where millions of events pass. It counts active functions itself,
 * and only when a rule needs to know them. --- */

/* As after stack_moves_enter, stack_moves_return. */
static inline void stack_moves_count(struct thread_stack *stack, function_id function)
{
    active_functions_add(&stack->open, function);
}

static inline void stack_moves_discount(struct thread_stack *stack, function_id function)
{
    active_functions_remove(&stack->open, function);
}

static inline void stack_moves_record(struct thread_stack *stack, enum history_kind kind,
                                      uint32_t frame)
{
    history_add(&stack->history, stack->now, kind, frame);
}

/* Looks up what must be known of a function before it is counted. */
static inline void stack_moves_know(struct thread_stack *stack, function_id function)
{
    if (!active_functions_knows(&stack->open, function))
        active_functions_add_new(&stack->open, function,
                                 stack->code.go_role(stack->code.context, function) ==
                                     GO_ROLE_GOGO);
}

/* Finds the start of the frame's function, which holds `address`, for a new frame. */
void stack_moves_set_start(struct thread_stack *stack, frame_id frame, uint64_t address);

/* Makes `activation` on top of `parent` the leaf, and returns it. It is neither recorded nor
 * counted. */
static inline __attribute__((always_inline)) frame_id
stack_moves_place_leaf(struct thread_stack *stack, frame_id parent,
                       const struct activation *activation, uint64_t address)
{
    bool added;
    frame_id leaf = frame_tree_child(&stack->tree, parent, activation, &added);
    stack->leaf = leaf;
    inlined_frames_begin(stack, leaf);
    if (added) {
        stack_moves_set_start(stack, leaf, address);
        stack_moves_know(stack, frame_known_function(activation->function));
    }
    return leaf;
}

/* `kind`: HISTORY_ENTER, or HISTORY_REPLACE if `parent` is that of the leaf. */
static inline __attribute__((always_inline)) frame_id
stack_moves_enter_uncounted(struct thread_stack *stack, frame_id parent,
                            const struct activation *activation, uint64_t address,
                            enum history_kind kind)
{
    frame_id leaf = stack_moves_place_leaf(stack, parent, activation, address);
    stack->statistics.spans++;
    stack_moves_record(stack, kind, leaf);
    return leaf;
}

/* To the caller of the leaf. */
static inline void stack_moves_return_uncounted(struct thread_stack *stack, frame_id caller)
{
    stack->leaf = caller;
    stack_moves_record(stack, HISTORY_RETURN, caller);
}

/* The function that was called where the leaf is now; see activation.origin. */
static inline function_id stack_moves_called_function(const struct thread_stack *stack)
{
    function_id origin = frame_tree_origin(&stack->tree, stack->leaf);
    return origin != FUNCTION_UNKNOWN ? origin : thread_stack_leaf(stack)->function;
}

/* The activation of the leaf after `function` has taken over its frame. */
static inline struct activation stack_moves_taken_over(const struct thread_stack *stack,
                                                       function_id function)
{
    const struct frame *leaf = thread_stack_leaf(stack);
    function_id called = stack_moves_called_function(stack);
    return (struct activation){
        .function = function,
        .kind = leaf->kind,
        .return_address = leaf->return_address,
        .origin = called == function ? FUNCTION_UNKNOWN : called,
    };
}

#endif
