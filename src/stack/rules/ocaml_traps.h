/* The rule of OCaml's exceptions: traps.
 *
 * `try` pushes the address of its handler on a chain of traps; `raise` goes to the newest one. The
 * pushes and pops are instructions that the flow decoder recognizes (FLOW_TRAP_PUSH, FLOW_TRAP_POP;
 * x86/trap_scan.h), so the frame that handles an exception is known exactly, through recursion and
 * through C.
 *
 * A trap whose frame has ended (longjmp has passed it) is dropped when it becomes the newest. At
 * the end of a segment all are dropped: a raise to an unknown handler is then like any other
 * unwinding (unwinding.h).
 */
#ifndef MAGIC_TRACE_STACK_RULES_OCAML_TRAPS_H
#define MAGIC_TRACE_STACK_RULES_OCAML_TRAPS_H

#include "stack/thread_stack.h"

struct trap {
    uint64_t handler; /* address */
    frame_id frame;   /* that pushed it */
};

struct ocaml_traps {
    struct array traps; /* struct trap, the newest last */
};

static inline bool ocaml_traps_are_set(const struct thread_stack *stack)
{
    return stack->rules.ocaml_traps->traps.count > 0;
}

#endif
