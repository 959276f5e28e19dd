/* The callers of what ran, found from the registers and the top of the stack as a sample saved
 * them, by the rules for unwinding in the objects (.eh_frame, .debug_frame), with libdw.
 *
 * One unwinder per process and decoding thread; the objects that it has opened stay open. A frame
 * whose object is missing is the last: no caller is guessed. In code of no object (of a JIT
 * compiler) frame pointers are followed.
 *
 * Called by decode/. Sources: elfutils' libdwfl.h; numbers of registers: System V psABI for x86-64,
 * figure 3.36.
 */
#ifndef MAGIC_TRACE_SYMBOL_STACK_UNWINDER_H
#define MAGIC_TRACE_SYMBOL_STACK_UNWINDER_H

#include "base/array.h"
#include "image/address_space.h"

#include <stddef.h>
#include <stdint.h>

/* In the order of DWARF's numbers. */
enum saved_register {
    SAVED_RAX,
    SAVED_RDX,
    SAVED_RCX,
    SAVED_RBX,
    SAVED_RSI,
    SAVED_RDI,
    SAVED_RBP,
    SAVED_RSP,
    SAVED_R8,
    SAVED_R15 = SAVED_R8 + 7,
    SAVED_RIP,
    SAVED_REGISTER_COUNT
};

struct saved_stack {
    uint64_t registers[SAVED_REGISTER_COUNT];
    const uint8_t *bytes; /* from registers[SAVED_RSP] on; borrowed */
    size_t size;
    /* Of the stack that a signal handler on another one has interrupted: from `outer` on. */
    uint64_t outer;
    const uint8_t *outer_bytes;
    size_t outer_size;
};

struct unwound_frame {
    uint64_t address;       /* of the innermost frame: what runs next; of others: in the call */
    uint64_t stack_pointer; /* in that frame; 0: not known */
    bool called; /* the next inner frame; else that frame runs, or a signal interrupted it */
};

/* Why there are no frames further out. */
enum unwinding_end {
    UNWINDING_WHOLE,     /* the outermost has no caller */
    UNWINDING_NOT_SAVED, /* the stack of its callers was not saved */
    UNWINDING_NO_OBJECT, /* the object of the outermost is not here */
    UNWINDING_NO_RULES,  /* there are no unwind rules for the outermost */
};

struct stack_unwinder;

struct stack_unwinder *stack_unwinder_open(void);
void stack_unwinder_close(struct stack_unwinder *unwinder);

/* Appends to `frames` (of struct unwound_frame), the innermost first, at least one. `space` is what
 * was mapped then. */
enum unwinding_end stack_unwinder_find(struct stack_unwinder *unwinder,
                                       const struct address_space_cursor *space,
                                       const struct saved_stack *saved, struct array *frames);

#endif
