/* What an x86-64 instruction does to the flow of control, and how long it is.
 *
 * Called once per basic block or branch, when it is first seen: by the qemu engine's plugin and by
 * decode/. Zydis decodes; this file only classifies the result. usual_instruction.h decodes the
 * most frequent instructions of 64-bit code without it.
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

/* Decodes the instruction whose first `size` bytes are at `bytes` and which runs at address `pc`.
 * False when the bytes are not an instruction or only the beginning of one. */
bool x86_decode(struct x86_instruction *instruction, const uint8_t *bytes, size_t size, uint64_t pc,
                enum x86_mode mode);

/* Whether the instruction makes what its thread did before visible to other threads in order: a
 * LOCK prefix, XCHG with memory, MFENCE (SDM volume 3, "Strengthening or Weakening the
 * Memory-Ordering Model"). 64-bit code; false when the bytes are not a whole instruction. */
bool x86_synchronises(const uint8_t *bytes, size_t size);

#endif
