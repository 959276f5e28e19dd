/* The stacks of a thread that are not running, and may continue later.
 *
 * The list, and what of it continues where. stack_switch.h says when a stack is suspended, and which one continues; the rules of other
 * switches use the list, too.
 */
#ifndef MAGIC_TRACE_STACK_RULES_SUSPENDED_STACKS_H
#define MAGIC_TRACE_STACK_RULES_SUSPENDED_STACKS_H

#include "stack/rules/suspended_addresses.h"
#include "stack/thread_stack.h"

/* A stack that is not running, and may continue later. */
struct suspended_stack {
    frame_id leaf;
    uint64_t pointer; /* the stack pointer when it was left; 0: not recorded */
    uint64_t top;     /* the stack pointer when it began, or was first seen; 0: not recorded */
    uint64_t
        further; /* bytes beyond `top` that the frames may take which were discovered since then */
    uint32_t
        number; /* in memory that it shares with others, which are copied there; 0: it has its own */
    bool loaded; /* the code had loaded the stack pointer before it began */
    bool
        lower; /* it is what is below a call on another stack: only a function that takes the place of that returns to it */
    bool
        several; /* it stands for others, too, that have the same known frames: it stays in the list */
};

struct suspended_stacks {
    struct array list; /* struct suspended_stack, the oldest first */
    struct array
        covered; /* the same: another stack has begun in their memory, so they have ended, or were copied away */
    struct suspended_addresses addresses; /* where they continue */
    struct suspended_addresses dropped;   /* where those would that were too many for the list */
};

static inline const struct array *suspended_stacks_list(const struct thread_stack *stack)
{
    return &stack->rules.suspended_stacks->list;
}

static inline bool suspended_stacks_none(const struct thread_stack *stack)
{
    return stack->rules.suspended_stacks->list.count == 0;
}

/* False if no suspended stack continues at `address`. */
static inline bool suspended_stacks_may_continue_at(const struct thread_stack *stack,
                                                    uint64_t address)
{
    return suspended_addresses_may_hold(&stack->rules.suspended_stacks->addresses, address);
}

/* The innermost frame of the one with this index. */
static inline frame_id suspended_stacks_leaf(const struct thread_stack *stack, size_t index)
{
    return ((const struct suspended_stack *)array_at(suspended_stacks_list(stack), index))->leaf;
}

/* False if none was dropped that would continue at `address`. */
static inline bool suspended_stacks_may_be_dropped(const struct thread_stack *stack,
                                                   uint64_t address)
{
    return suspended_addresses_may_hold(&stack->rules.suspended_stacks->dropped, address);
}

/* True if the frame `leaf`, suspended or not, is a restorer whose handler has interrupted code at `address`. */
bool suspended_stacks_leaf_was_interrupted_at(const struct thread_stack *stack, frame_id leaf,
                                              uint64_t address);

/* True if the frame `leaf` was pushed by a call whose return address is `address`. */
bool suspended_stacks_leaf_returns_to(const struct thread_stack *stack, frame_id leaf,
                                      uint64_t address);

/* The list has another one, and may be too long until the oldest is dropped. */
void suspended_stacks_put(struct thread_stack *stack, struct suspended_stack suspended);
void suspended_stacks_limit(struct thread_stack *stack);

/* The suspended stacks include one that is not running, with this leaf. */
void suspended_stacks_add(struct thread_stack *stack, frame_id leaf);

/* ... or the lower part of a stack, up to the call on another stack that `leaf` has made (handed_over.h). */
void suspended_stacks_add_lower(struct thread_stack *stack, frame_id leaf);

/* Index of the first suspended stack from `first` on that continues at `address`; their number if none does. Lower parts do not count. */
size_t suspended_stacks_find(const struct thread_stack *stack, size_t first, uint64_t address);

/* How many continue at `address`, as far as it matters: 2 are several. *index: of the first one. */
unsigned suspended_stacks_count(const struct thread_stack *stack, uint64_t address, size_t *index);
/* ... and of lower parts; *index: of the last one. */
unsigned suspended_stacks_count_lower(const struct thread_stack *stack, uint64_t address,
                                      size_t *index);

/* It is in the list no more. */
struct suspended_stack suspended_stacks_take(struct thread_stack *stack, size_t index);
void suspended_stacks_forget(struct thread_stack *stack, size_t index);
void suspended_stacks_forget_leaf(struct thread_stack *stack, frame_id leaf);
/* A new stack begins with the pointer there: those that were suspended in that memory are covered, but for those that are known to
 * be copied away. */
void suspended_stacks_cover(struct thread_stack *stack, uint64_t pointer);

/* A stack continues there, at `address`. Whether one that is not covered was left so. */
bool suspended_stacks_has_left_at(const struct thread_stack *stack, uint64_t pointer,
                                  uint64_t address);
/* Those that are covered and were left so may be it: they are so no more. False: there are none. */
bool suspended_stacks_uncover(struct thread_stack *stack, uint64_t pointer, uint64_t address);

/* The suspended stack with the innermost frame `leaf` consists only of its frames up to the one before `end`, and its callers are
 * unknown. */
void suspended_stacks_part(struct thread_stack *stack, frame_id leaf, frame_id end);

/* The list keeps one of many stacks that cannot be distinguished, and of which it is unknown whether they still wait. The last one was
 * put there just now. */
void suspended_stacks_merge_last(struct thread_stack *stack);

#endif
