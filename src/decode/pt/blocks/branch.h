/* What kind of branch ends a block, and where the next instruction begins.
 *
 * Packets name branches by their address only; the bytes of the instruction say the rest. Used by
 * the decoder for branches that it sees for the first time; code_space caches the answers.
 */
#ifndef MAGIC_TRACE_DECODE_PT_BLOCKS_BRANCH_H
#define MAGIC_TRACE_DECODE_PT_BLOCKS_BRANCH_H

#include "x86/instruction.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum branch_kind {
    BRANCH_NONE,        /* runs on into the next instruction */
    BRANCH_CONDITIONAL, /* also loop, jrcxz */
    BRANCH_JUMP,        /* near, direct or indirect */
    BRANCH_CALL,
    BRANCH_RETURN,
    BRANCH_FAR_CALL,   /* syscall, sysenter, int, far call: may enter the kernel */
    BRANCH_FAR_RETURN, /* iret, sysret, sysexit, far return */
    BRANCH_FAR_JUMP,
};

struct branch {
    uint8_t kind;   /* enum branch_kind */
    uint8_t length; /* bytes; 0 if they are not an instruction */
    bool direct;    /* a jump or call whose target is in its bytes */
    /* `call` of the instruction after itself: position-independent code that reads its own address.
     * Neither processors nor decoders count it as a call. */
    bool reads_own_address;
};

enum branch_kind branch_kind_of(enum x86_flow flow);

/* Classifies the instruction in the first of `size` bytes; `size` may be more than the
 * instruction's. */
struct branch branch_classify(const uint8_t *bytes, size_t size, enum x86_mode mode);

#endif
