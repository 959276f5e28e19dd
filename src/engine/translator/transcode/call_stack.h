/* The stack pointer of the transcoded thread, as well as it is known, for the encoder, which
 * remembers by it which calls are in progress (packet/calls.h).
 *
 * The log has the stack pointer only where code loads it, where handlers begin, and with copies of
 * the stack. Between them each call is taken to push little, and a return to end the newest call
 * that returns there: so a call never seems to be further down the stack than it is.
 */
#ifndef MAGIC_TRACE_ENGINE_TRANSLATOR_CALL_STACK_H
#define MAGIC_TRACE_ENGINE_TRANSLATOR_CALL_STACK_H

#include "base/array.h"
#include "engine/translator/transcode/suspended_calls.h"
#include "packet/encoder.h"
#include "packet/stack_numbers.h"

/* The stack pointer before and after it was loaded. */
struct stack_load {
    uint64_t before, after;
    struct stack_numbers
        numbers; /* where stacks are copied: of the one that was left, and of the one that continues; 0: it has none */
};

struct call_stack {
    uint64_t pointer; /* what the encoder reads */
    bool known;       /* the log had it at least once */
    /* While a handler runs on a stack of its own. */
    struct pt_saved_calls interrupted;
    uint64_t interrupted_pointer;
    bool handler_runs;
    struct array
        interruptions; /* struct interruption: of handlers that may not have returned, the newest last */
    struct stack_load
        restored; /* by the sigreturn that the program executes; all 0: it goes back */
    /* Other stacks of the thread. */
    struct suspended_calls suspended;
    struct suspended_calls copied; /* whose numbers are known */
    bool reports;                  /* decoders may begin anywhere, and not know them */
    bool switches; /* the stack pointer was loaded, the branch to the other stack comes */
    bool due; /* the calls of the stack that runs are to be reported: decoders may not know them */
    uint64_t psb;    /* stream position: since the PSB there they are known */
    bool unreported; /* decoders that began before do not know the calls of the stack that runs */
    /* A stack continued, and not where its innermost call returns: a new stack in its place; or a function on top of it
     * (Boost.Context's ontop_fcontext), which returns for the call; or a caller, by longjmp: that returns for its own. */
    struct pt_saved_calls continued;
    bool may_be_on_top;     /* `continued` is valid */
    uint64_t ended_at_most; /* so many of its innermost calls, by the stack pointer */
};

/* `reports`: the recording may begin anywhere, so stacks that code changes to are to be reported. */
void call_stack_begin(struct call_stack *stack, struct pt_encoder *encoder, bool reports);
void call_stack_free(struct call_stack *stack);

/* The block that ran last ended with a call, or with a return that goes to `pc`. */
void call_stack_call(struct call_stack *stack);
void call_stack_return(struct call_stack *stack, struct pt_encoder *encoder, uint64_t pc);

/* Code loaded the stack pointer. */
void call_stack_load(struct call_stack *stack, struct pt_encoder *encoder,
                     const struct stack_load *load);

/* Code changed the stack pointer so, perhaps in order to copy another stack there: the one whose number is known, if it is. */
void call_stack_copy(struct call_stack *stack, struct pt_encoder *encoder,
                     const struct stack_load *load);

/* The branch that ends a switch to another stack goes to `pc`. */
void call_stack_arrive(struct call_stack *stack, struct pt_encoder *encoder, uint64_t pc);

/* Its calls were reported, or there was no room for them (`reported` is false). */
void call_stack_reported(struct call_stack *stack, bool reported);

/* A signal handler begins, with the stack pointer at `to`, on top of the code at `ip`; the encoder
 * knows of the interruption. And it returns. */
void call_stack_enter_handler(struct call_stack *stack, struct pt_encoder *encoder, uint64_t ip,
                              uint64_t from, uint64_t to);
void call_stack_leave_handler(struct call_stack *stack, struct pt_encoder *encoder);

/* The handler's last code runs, with the stack pointer at `pointer`: call_stack_leave_handler will continue with it at
 * `restored`. Returns what that changes, as seen from the interrupted code; all 0: nothing, or it is not known. */
struct stack_load call_stack_restore(struct call_stack *stack, const struct pt_encoder *encoder,
                                     uint64_t pointer, uint64_t restored);

/* The stack pointer is `pointer`, and `calls` (of struct pt_call, the outermost first) are in
 * progress; `all`: that is all of them, else those further out that are known are added. */
void call_stack_learn(struct call_stack *stack, struct pt_encoder *encoder, uint64_t pointer,
                      struct array *calls, bool all);

/* What ran until now is unknown. */
void call_stack_forget(struct call_stack *stack, struct pt_encoder *encoder);

#endif
