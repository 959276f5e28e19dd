/* What an x86-64 instruction does to the flow of control, and how long it is.
 *
 * Decoded once per basic block or branch, when it is first seen (x86/decode.h): by the qemu engine's plugin and by
 * decode/.
 */
#ifndef MAGIC_TRACE_X86_INSTRUCTION_H
#define MAGIC_TRACE_X86_INSTRUCTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    X86_LONGEST_INSTRUCTION = 15, /* bytes (SDM volume 2, 2.3.11) */
};

enum x86_flow {
    X86_SEQUENTIAL,    /* continues with the next instruction; also ud2, hlt and others that can
                        * only fault */
    X86_CONDITIONAL,   /* Jcc, LOOPcc, JRCXZ */
    X86_JUMP,          /* direct */
    X86_CALL,          /* direct */
    X86_INDIRECT_JUMP, /* through a register or memory */
    X86_INDIRECT_CALL,
    X86_RETURN,     /* near */
    X86_FAR_CALL,   /* syscall, sysenter, int n, int3, far call, vmcall */
    X86_FAR_RETURN, /* iret, sysret, sysexit, far return, vmlaunch, vmresume */
    X86_FAR_JUMP,
    X86_REPEAT, /* string instruction with a rep prefix */
};

/* The mode in which the processor decodes the code: by the CS.L and CS.D bits. */
enum x86_mode { X86_MODE_16, X86_MODE_32, X86_MODE_64 };

struct x86_instruction {
    enum x86_flow flow;
    unsigned length; /* bytes */
    uint64_t target; /* of X86_CONDITIONAL, X86_JUMP, X86_CALL */
    bool is_ptwrite;
};

#endif
