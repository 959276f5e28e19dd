/* The rules of programs with several stacks per thread: fibers, coroutines, goroutines.
 *
 * A switch saves the stack pointer of the running stack, loads that of another, and returns there.
 * In the packets that is a return which fits nothing on the running stack. It goes
 *   to the first instruction of a function    a new stack begins with that function, and the
 *                                             running one is suspended. So does a jump there of code that has
 *                                             loaded the stack pointer
 *   to where the leaf of a suspended stack    that stack continues, in the leaf's caller; the
 *   would return to                           running one is suspended
 *
 * If the first function of a new stack returns to where the stack suspended for it would have
 * continued, there were not two stacks: it was a tail call by "push; ret". The function then gets
 * the other stack's callers after all. Not if the code had loaded the stack pointer before the function began: then it
 * returns to the stack on top of which it was put (Boost.Context's ontop_fcontext), if a single one waits there. Nor if the
 * code has loaded it before the return: a fiber's function can end by a jump to the one that switches.
 *
 * If several stacks are suspended in the same place (all in yield, called from one line), a return
 * to it does not show which one continues. A segment begins then, and the returns that follow
 * decide (fitting_stacks.h). That is decided when the segment ends, because the next switch depends on which stacks are
 * suspended. While it is undecided, all of them stay in the list, and the running one comes to it when it is left: so the
 * stack that continues is always one of the list, which may have more.
 *
 * A recording that begins in the middle of a thread may not have all of its stacks. What continues where a
 * suspended stack would need not be that one then, and its callers are unknown until it returns to them.
 */
#ifndef MAGIC_TRACE_STACK_RULES_STACK_SWITCH_H
#define MAGIC_TRACE_STACK_RULES_STACK_SWITCH_H

#include "stack/rules/suspended_stacks.h"
#include "stack/thread_stack.h"

/* Two stacks that were taken for one. */
struct assumed_join {
    frame_id link;    /* between them */
    uint32_t segment; /* in which the other one runs */
};

struct stack_switch {
    struct array
        candidates; /* struct suspended_stack: those that may be the running one, if that is unknown */
    struct array joined;  /* struct assumed_join */
    bool assumed_wrongly; /* once */
    uint64_t top;         /* of the running stack, as in struct suspended_stack */
    uint64_t further;     /* likewise */
    bool loaded;          /* likewise */
    frame_id arrived; /* the leaf in which a stack has continued last whose pointer was recorded */
    bool
        switches_unrecorded; /* the program has switched by code that is not taken for a load of the pointer */
    bool misses_stacks; /* the recording does not begin with the thread, or has gaps */
};

/* There may be stacks that were suspended before the first event, or in a gap. */
bool stack_switch_misses_stacks(const struct thread_stack *stack);

/* The stack pointer when the running stack began; 0: not recorded. */
static inline uint64_t stack_switch_top(const struct thread_stack *stack)
{
    return stack->rules.stack_switch->top;
}

/* The greatest stack pointer that the known frames of the running stack may have; 0: unknown. */
static inline uint64_t stack_switch_limit(const struct thread_stack *stack)
{
    const struct stack_switch *state = stack->rules.stack_switch;
    return state->top != 0 ? state->top + state->further : 0;
}

/* The outermost known frame of the running stack has got a caller: the return address lies further out than where the stack
 * was first seen. */
static inline void stack_switch_extend(struct thread_stack *stack)
{
    enum { RETURN_ADDRESS = 8 };
    if (stack->rules.stack_switch->top != 0)
        stack->rules.stack_switch->top += RETURN_ADDRESS;
}

/* The two halves of a switch. The running stack is suspended, or never continues: ... */
void stack_switch_suspend(struct thread_stack *stack);
void stack_switch_leave(struct thread_stack *stack);
/* ... and with no stack running, the suspended one with this index continues in its frame `frame`;
 * or one that can continue at event->to (false: none can); or a new one begins. */
void stack_switch_resume(struct thread_stack *stack, size_t index, frame_id frame,
                         const struct flow_event *event);
bool stack_switch_continue_at(struct thread_stack *stack, const struct flow_event *event);
void stack_switch_begin(struct thread_stack *stack, const struct flow_event *event);
/* ... or the one with this index, which may have run in other threads in the meantime: its callers are unknown. Returns the
 * frame in which it continues if it has not. */
frame_id stack_switch_begin_again(struct thread_stack *stack, size_t index,
                                  const struct flow_event *event);

/* True if a suspended stack, left by sigreturn, was interrupted at `address`; and with no stack running, it continues. Of
 * several, the returns that follow decide; its callers stay unknown when they fit more than one. */
bool stack_switch_has_interrupted(const struct thread_stack *stack, uint64_t address);
void stack_switch_continue_interrupted(struct thread_stack *stack, const struct flow_event *event);

/* With no stack running: the one suspended with `leaf` continues, as far as is known. Should it turn out that one such stack
 * was another one, the callers of all are unknown; stack_switch_assumed_wrongly says so from then on. */
void stack_switch_assume(struct thread_stack *stack, frame_id leaf, const struct flow_event *event);
static inline bool stack_switch_assumed_wrongly(const struct thread_stack *stack)
{
    return stack->rules.stack_switch->assumed_wrongly;
}

/* True if `function`, which is not active as far as the running stack is known, may be active further out in it. Where
 * other stacks are suspended, it is as likely in one that was never seen. */
bool stack_switch_may_be_further_out(const struct thread_stack *stack, function_id function);

/* True if a suspended stack can continue at `address`. */
bool stack_switch_is_suspended_at(const struct thread_stack *stack, uint64_t address);

/* The running stack is suspended, and the suspended one with this index continues in its frame
 * `frame`, at event->to. */
void stack_switch_to(struct thread_stack *stack, size_t index, frame_id frame,
                     const struct flow_event *event);

/* The running stack is suspended, and one of those continues at event->to that were left with that pointer: the returns that follow
 * decide. */
void stack_switch_to_one_left_at(struct thread_stack *stack, uint64_t pointer,
                                 const struct flow_event *event);

/* The same, but it has run elsewhere in the meantime: its callers are unknown. */
void stack_switch_to_unknown(struct thread_stack *stack, size_t index,
                             const struct flow_event *event);

/* True if a suspended stack continues at event->to: the switch has been made. Also if the running
 * stack's leaf would return there: it may be either. */
bool stack_switch_to_suspended(struct thread_stack *stack, const struct flow_event *event);

/* A jump that may be direct. True if it goes to the first instruction of a function, and the code had loaded the stack pointer, which
 * is not recorded: it is none of longjmp's or an unwinder's, and has been followed. */
bool stack_switch_to_function(struct thread_stack *stack, const struct flow_event *event);

/* The leaf, whose callers are unknown, is the first frame of its stack: one on top of which it has called may be that of its caller. */
void stack_switch_note_begun(struct thread_stack *stack);

/* The outermost frame returns, and its caller is discovered: one that has called on another stack is the first on its own,
 * which may be any that is suspended. */
void stack_switch_discover(struct thread_stack *stack, const struct flow_event *event);

/* The code has changed to another stack before the event's branch, as far as is known without recorded pointers. */
bool stack_switch_has_exchanged(const struct thread_stack *stack, const struct flow_event *event);

/* A return to the first instruction of a function. `top`: the stack pointer there, if it was
 * recorded. Stacks that were suspended in the same memory have ended. */
void stack_switch_to_new(struct thread_stack *stack, const struct flow_event *event, uint64_t top);

/* The leaf returns to event->to. True if it is the first of a new stack, and there was no switch to
 * it: it has got the callers of the stack that was suspended for it. */
bool stack_switch_was_none(struct thread_stack *stack, const struct flow_event *event);

/* Likewise; true if it was put on top of a suspended stack: it has got the callers of that. */
bool stack_switch_was_on_top(struct thread_stack *stack, const struct flow_event *event);

/* Likewise; true if another stack continues there: the switch has been made. */
bool stack_switch_from_first(struct thread_stack *stack, const struct flow_event *event);

#endif
