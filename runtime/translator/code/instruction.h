/* What the translator has to know of an x86-64 instruction in order to copy it elsewhere: what decode.c finds out.
 *
 * Sets of registers and flags are exact or err on the safe side: `reads` and `writes` may name too many registers,
 * `flags_read` too many flags, `flags_written` never one that is not always written. A register of which a part is
 * written (8 or 16 bits), or only on some condition, is in both sets. What differs between processors is answered for
 * all of them: TZCNT and LZCNT as if they might be BSF and BSR, RDSSP as if it might be a NOP. Instructions of later
 * processors, in the maps whose encodings have a regular form, mention all registers that their fields could mean.
 */
#ifndef MAGIC_TRACE_RUNTIME_TRANSLATOR_INSTRUCTION_H
#define MAGIC_TRACE_RUNTIME_TRANSLATOR_INSTRUCTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum tr_kind {
    TR_PLAIN,         /* goes on after itself, and may be copied: the operands decide how */
    TR_CONDITIONAL,   /* Jcc: `condition` */
    TR_LOOP,          /* LOOP, LOOPE, LOOPNE, JRCXZ, JECXZ: 8-bit displacement, no other form */
    TR_JUMP,          /* direct */
    TR_CALL,          /* direct */
    TR_INDIRECT_JUMP, /* near, through a register or memory: ModRM operand */
    TR_INDIRECT_CALL,
    TR_RETURN,      /* near; `pop_bytes` for RET imm16 */
    TR_SYSTEM_CALL, /* SYSCALL */
    TR_XBEGIN,      /* `target` is the fallback */
    TR_TRAP, /* INT3, INT n (but 0x80), INT1, UD0-2, HLT, privileged and undefined instructions: raises a
                         signal where it stands, or is not one the decoder knows; registers may be missing */
    TR_INT80, /* INT 0x80, SYSENTER */
    TR_FAR, /* far jumps, calls and returns, IRET, UIRET, ENCLU: what the translator does not follow */
    TR_GS_BASE, /* WRGSBASE, SWAPGS, moves into the segment register gs: changes what gs means */
};

/* Bits of tr_instruction.properties. */
enum {
    TR_HAS_MODRM = 1 << 0,
    TR_RIP_RELATIVE = 1 << 1, /* a memory operand relative to the next instruction */
    TR_MEMORY = 1 << 2, /* has an explicit memory operand (not only an address, as LEA and NOP) */
    /* the ModRM.rm field's fourth bit (REX.B, inverted in VEX and EVEX) is set */
    TR_EXTENDED_BASE = 1 << 3,
    TR_GS_OPERAND = 1 << 4, /* a gs prefix that counts, RDGSBASE */
    TR_FS_OPERAND = 1 << 5,
    TR_REPEAT = 1 << 6, /* string instruction with a REP prefix */
    /* gives RSP a value that is not RSP plus or minus a constant: MOV RSP, XCHG with RSP, LEA RSP from another register,
     * POP RSP; LEAVE and AND RSP, imm do not count */
    TR_LOADS_STACK = 1 << 7,
    /* PUSH or POP, of 64 bits, of the general register `reg`: opcodes 50 to 5f */
    TR_PUSH_POP = 1 << 8,
    TR_LEA = 1 << 9,
    TR_VECTOR = 1 << 10,        /* VEX, EVEX or XOP encoded */
    TR_WRITES_MEMORY = 1 << 11, /* may write memory other than by PUSH; superset */
    TR_SYNCHRONISES = 1 << 12,  /* LOCK prefix, XCHG with memory, MFENCE */
    TR_TIME_STAMP = 1 << 13,    /* RDTSC, RDTSCP */
    /* a 67 prefix that counts: for an address, or the counter of TR_LOOP */
    TR_ADDRESS_32 = 1 << 14,
};

/* Bits of sets of flags. */
enum { TR_CF = 1, TR_PF = 2, TR_AF = 4, TR_ZF = 8, TR_SF = 16, TR_OF = 32, TR_ALL_FLAGS = 63 };

/* Register numbers are those of the encoding (RAX 0, RCX 1, RDX 2, RBX 3, RSP 4, RBP 5, RSI 6, RDI 7, R8 8 ...); a
 * set has bit N for register N, whatever part of it is meant. Implicit operands count. */
struct tr_instruction {
    uint8_t length;    /* bytes, 1 to 15 */
    uint8_t kind;      /* enum tr_kind */
    uint8_t condition; /* of TR_CONDITIONAL: low 4 bits of the opcode */
    uint8_t opcode;    /* last opcode byte */
    uint8_t map;       /* 0 one byte, 1 0f, 2 0f38, 3 0f3a, and as VEX/EVEX/XOP encode it */
    uint8_t modrm;     /* the byte itself */
    uint8_t modrm_at;  /* its offset in the instruction; valid with TR_HAS_MODRM */
    /* Of a memory operand (also the address of MOV with an absolute one) or a direct branch; size 0: none. */
    uint8_t displacement_at, displacement_size;
    /* of both together, if there are two: ENTER, EXTRQ, INSERTQ */
    uint8_t immediate_at, immediate_size;
    uint8_t reg; /* with TR_PUSH_POP: the register */
    uint8_t rex; /* the REX byte, or 0 */
    /* bytes before REX, VEX, EVEX, XOP or the opcode: legacy prefixes, and REX that do not count */
    uint8_t prefix_size;
    uint8_t flags_read, flags_written;
    uint16_t pop_bytes;
    uint16_t reads, writes; /* general registers, implicit ones and address registers included */
    uint32_t properties;
    uint64_t target; /* of direct branches, or the address of a RIP-relative operand */
};

#endif
