/* The rule of fibers that hand control over to those who called them, where the stack pointer is not recorded: OCaml 5's
 * effects in recordings of real hardware. With the stack pointer, called_fibers.h follows them.
 *
 * A function calls on another stack: there a fiber begins, on top of its caller. When the fiber performs an effect, code loads
 * the stack pointer and jumps to a function, the handler. So it does when it resumes a fiber. Which of the two it was shows
 * later. The running stack is suspended as a whole; and what is below its innermost call on another stack, its *lower part*, is
 * suspended, too: only a function that has taken the place of that call returns to it. The first function of the stack that
 * begins then
 *   returns to the lower part         it was a handler in the fiber's place: from then on the fiber's own frames are a stack
 *                                     whose callers are unknown
 *   returns to another stack          that was resumed, and the stack that was left has its callers still
 *   is left before it returns         it may have been either: the callers are unknown
 *
 * A handler's own callers are not known until it returns. When it hands control over itself, because it resumes the fiber or passes
 * the effect on, it may have been on any lower part: the same holds for all of these. But if it had called nothing, and the
 * fiber that was left continues next, nothing below that has run: it has its callers still.
 *
 * Source: OCaml 5.3, runtime/amd64.S (caml_runstack, caml_perform, caml_reperform, caml_resume).
 */
#ifndef MAGIC_TRACE_STACK_RULES_HANDED_OVER_H
#define MAGIC_TRACE_STACK_RULES_HANDED_OVER_H

#include "stack/thread_stack.h"

/* Where a suspended stack may have been split. */
struct stack_split {
    frame_id leaf; /* of the stack, or of the lower part */
    /* In it: the frame that had called on another stack, the leaf of the lower part; or the placeholder that stands for it. FRAME_NONE:
     * there is no split. */
    frame_id caller;
    bool passed_on; /* a handler that had called nothing has handed control over since */
};

struct handed_over {
    struct array splits; /* struct stack_split: as long as it is unknown what runs */
    bool passes_on;      /* they outlive the stack that is being left */
};

/* The code before `address`, where a call has returned or will, has loaded the stack pointer before that. */
bool handed_over_has_called_on_other_stack(const struct thread_stack *stack, uint64_t address);

/* The leaf jumps to the first instruction of a function, with a stack pointer that is not recorded: before the running stack is
 * suspended and a new one begins, and after that. `left`: the leaf before. */
void handed_over_begin(struct thread_stack *stack);
void handed_over_end(struct thread_stack *stack, frame_id left);

/* With stack pointers that are recorded, and such a jump: before the running stack is left, and after that. When its outermost known
 * frame has called on another stack, it need not be called by that when it continues: it is split there. */
struct stack_split handed_over_split(const struct thread_stack *stack);
void handed_over_part(struct thread_stack *stack, struct stack_split left);

struct suspended_stack;

/* The first function of the running stack returns to `address`, where suspended stacks would continue: on top of one of them it
 * has run, which is `below`, and in the list no more; NULL: one of several. Address 0: the running stack is left, and it is not known
 * what it is. */
void handed_over_settle(struct thread_stack *stack, const struct suspended_stack *below,
                        uint64_t address);

#endif
