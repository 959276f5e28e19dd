/* Functions of Go's runtime that switch between stacks, or are called by a signal handler,
 * recognized by their names.
 *
 * Names and their meaning: src/runtime/asm_amd64.s, proc.go, stack.go and panic.go of Go 1.17 to
 * 1.22; they have been the same since 1.5, except that the assembler ones got the suffix `.abi0`.
 *
 * Called by process_code, once per function; the rules are in goroutines.h.
 */
#ifndef MAGIC_TRACE_STACK_GO_RUNTIME_H
#define MAGIC_TRACE_STACK_GO_RUNTIME_H

#include <stdint.h>

enum go_role {
    GO_ROLE_NONE,
    GO_ROLE_GOGO, /* loads the stack pointer of a goroutine and jumps to where it continues */
    /* A goroutine that has called it continues by gogo, at the return address: mcall, morestack.
     * And mstart1, in which a thread's first stack waits for the thread's end. */
    GO_ROLE_WAIT,
    GO_ROLE_NEWSTACK, /* calls gogo after the goroutine has got a larger stack */
    GO_ROLE_RECOVERY, /* calls gogo after a panic was recovered */
    GO_ROLE_GOEXIT,   /* ends the goroutine that called it (by mcall) */
    GO_ROLE_INJECTED  /* a signal handler makes code that has faulted call it; it raises a panic */
};

enum go_role go_role_of(const char *function);

#endif
