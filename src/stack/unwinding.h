/* The rules of control that lands somewhere without call or return: longjmp, exceptions, changed
 * signal contexts.
 *
 * Landing in the middle of a function that is open further out means that the frames above it are
 * gone: all at once, not one per event. The innermost activation of the function is taken. (Which
 * activation it is under recursion is told by setjmp's return address and by the landing pads of
 * .gcc_except_table; that evidence belongs here.)
 */
#ifndef MAGIC_TRACE_STACK_UNWINDING_H
#define MAGIC_TRACE_STACK_UNWINDING_H

#include "stack/thread_stack.h"

/* Control has come to `address` in `function` by a jump. Needs a segment. */
void land(struct thread_stack *stack, function_id function, uint64_t address);

/* Control has come to `address` in `function` by a jump that cannot leave the activation it is in:
 * a tail call, or the way between the parts of one function. Needs a segment. */
void take_over(struct thread_stack *stack, function_id function, uint64_t address);

/* Cuts the stack to the innermost frame of `function`; false when there is none. */
bool land_in_open_function(struct thread_stack *stack, function_id function);

#endif
