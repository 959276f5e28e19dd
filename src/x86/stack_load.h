/* Whether code moves to another place in the stack, or to another stack, before it jumps: longjmp,
 * the switch to another fiber, an exception that is raised.
 *
 * A load of the stack pointer is a mov, pop or xchg into it. What functions do with their own frame
 * does not count: leave, lea, and a mov from %rbp, from memory based on it, or from another
 * register that calls preserve, where compilers keep the stack pointer while a function has arrays
 * of variable size.
 *
 * Called once per block: by decode/pt/blocks/block_facts.c, and by the qemu engine's plugin, which
 * records the stack pointer where such code runs.
 */
#ifndef MAGIC_TRACE_X86_STACK_LOAD_H
#define MAGIC_TRACE_X86_STACK_LOAD_H

#include "x86/trap_scan.h"

/* True when the 64-bit code from the instruction at `first` to the one at `last` ends in an
 * indirect jump and loads the stack pointer before it. `code` must hold all of it. */
bool x86_loads_stack(const struct x86_code *code, uint64_t first, uint64_t last);

/* True when the 64-bit instruction in these bytes loads the stack pointer. */
bool x86_is_stack_load(const uint8_t *bytes, size_t size);

#endif
