/* The true call stack of a thread, from where its stack pointer stands.
 *
 * A frame is alive as long as the place its return address was pushed to (its *slot*) is not above
 * the stack pointer: no names, no return addresses, no guesses. The log says what a call pushed
 * (TRUTH_CALLED); the function of the innermost frame is that of the running code, and so a tail
 * call or a jump through the PLT changes it. As long as it runs straight on in the same function it
 * may even take its own return address off the stack (vfork does), and call others then
 * (caml_raise_exn does). When it returns to where it was called, it ends, even if it leaves more on
 * the stack (prologues of V8's functions do). The thread's first frame has no slot and is always
 * there.
 *
 * Several stacks: only a block that puts something new into RSP, or a signal, can change from one
 * to another. Then RSP is
 *   above where it was, in the same stack: frames are dropped (longjmp, exceptions, epilogues);
 *   in a stack that was left before: that one goes on (swapcontext);
 *   a little below where it was, and the code runs straight on: the same stack (alloca);
 *   anywhere else: a new stack, whose first frame this is.
 * When the code then calls, or runs straight on in the same function, the function itself has
 * changed stacks (Go's systemstack and mcall, before they call): what it calls there was called by
 * it.
 *
 * Goroutines have stacks that move. They are known by their address and go on where their innermost
 * frame (mcall, morestack) returns to; when that is elsewhere than before, all frames are.
 *
 * A signal handler on a stack of its own stands on the interrupted stack.
 *
 * Stacks are nodes of a tree of functions (leaf to root), as many as there are distinct ones, so
 * that one number is a whole stack.
 *
 * Used by truth_walk, one per thread.
 */
#ifndef MAGIC_TRACE_TESTS_TRUE_STACK_H
#define MAGIC_TRACE_TESTS_TRUE_STACK_H

#include "stack_area.h"
#include "truth_format.h"

#include <stdbool.h>
#include <stdint.h>

/* As the program's memory has it. */
struct true_caller {
    uint64_t slot;
    function_id function; /* that goes on when what was called returns */
};

struct true_stack {
    struct true_tree tree;
    struct stack_area *current;
    struct array suspended;      /* struct stack_area * */
    struct truth_block previous; /* that ran last; pc 0: none */
    uint64_t rsp;
    uint64_t steps;
    struct array callers; /* struct true_caller: those of the next block, the innermost first, as
                             far as they are known; the owner fills it */
    bool forked;          /* just now, from what ran before; perhaps onto a stack of its own */
};

void true_stack_init(struct true_stack *stack);
void true_stack_free(struct true_stack *stack);

/* All frames are gone: another program begins. */
void true_stack_restart(struct true_stack *stack);

/* A block begins, in `function`. `gogo`: after Go's gogo, and record->g goes on. */
void true_stack_step(struct true_stack *stack, const struct truth_block *block,
                     const struct truth_record *record, function_id function, bool gogo);

/* The running code has come into another function, in the same frame. */
void true_stack_become(struct true_stack *stack, function_id function);

true_node true_stack_leaf(const struct true_stack *stack);

/* The innermost frame is a stack's first one. */
bool true_stack_in_first_frame(const struct true_stack *stack);

#endif
