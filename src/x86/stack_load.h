/* Whether code moves to another place in the stack, or to another stack, before it jumps: longjmp,
 * the switch to another fiber, an exception that is raised.
 *
 * A load of the stack pointer is a mov, pop or xchg into it. What functions do with their own frame
 * does not count: leave, lea, and a mov from %rbp, from memory based on it, or from another
 * register that calls preserve, where compilers keep the stack pointer while a function has arrays
 * of variable size.
 *
 * Adding a register to it is a load, too. So is a jump to what the code has just popped: that is what a return does.
 *
 * Called once per block: by decode/pt/blocks/block_facts.c, and by the qemu engine's plugin, which
 * records the stack pointer where such code runs.
 */
#ifndef MAGIC_TRACE_X86_STACK_LOAD_H
#define MAGIC_TRACE_X86_STACK_LOAD_H

#include "x86/trap_scan.h"

/* True when the 64-bit code from the instruction at `first` to the one at `last` ends in a jump, direct or not, and loads the
 * stack pointer before it, or pops the jump's target. `code` must hold all of it. */
bool x86_loads_stack(const struct x86_code *code, uint64_t first, uint64_t last);

/* True when the 64-bit instruction in these bytes loads the stack pointer. */
bool x86_is_stack_load(const uint8_t *bytes, size_t size);

/* True when the 64-bit instruction in these bytes saves the stack pointer as code does before it changes to another stack: in memory, or in
 * a register that calls need not preserve; not in the function's own frame, nor as its frame pointer. */
bool x86_is_stack_save(const uint8_t *bytes, size_t size);

/* True when the 64-bit instruction that begins with these bytes adds a register to the stack pointer. Functions rarely do so to
 * their own frame; it is how a program goes on in a stack that it keeps a copy of (greenlet). */
static inline bool x86_adds_to_stack_pointer(const uint8_t *bytes, size_t size)
{
    enum {
        REX_W = 0x48,
        REX_OTHERS = 0x05, /* R and B */
        ADD_TO_OPERAND = 0x01,
        ADD_TO_REG = 0x03,
        REGISTERS = 0xc0,
        REG = 0x38,
        OPERAND = 7,
        RSP = 4,
    };
    if (size < 3 || (bytes[0] & ~REX_OTHERS) != REX_W)
        return false;
    bool is_register = (bytes[2] & REGISTERS) == REGISTERS;
    if (bytes[1] == ADD_TO_OPERAND)
        return is_register && (bytes[0] & 1) == 0 && (bytes[2] & OPERAND) == RSP;
    return bytes[1] == ADD_TO_REG && is_register && (bytes[0] & 4) == 0 &&
           (bytes[2] & REG) == RSP << 3;
}

#endif
