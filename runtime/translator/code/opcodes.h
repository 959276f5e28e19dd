/* What follows each opcode and what the instruction does, as words of bits for decode.c.
 *
 * Source: SDM volume 2, appendices A and B; AMD APM volume 3 (XOP, 3DNow!, SSE4a, TBM).
 */
#ifndef MAGIC_TRACE_RUNTIME_TRANSLATOR_OPCODES_H
#define MAGIC_TRACE_RUNTIME_TRANSLATOR_OPCODES_H

#include <stdint.h>

/* A word is 0 (no instruction), a choice, a prefix or escape, or the following fields. Registers
 * and flags that are written have the bit 16 places beyond that of those that are read, so that
 * sets of both are made at once. A register that is written in part (8 bits) or on a condition is
 * read as well; that writes of 16 bits are partial is for the decoder to see. */
#define OPCODE_WRITTEN 16
#define OPCODE_IMPLICIT_AT 0 /* 8 bits: implicit operands among RAX to RDI */
#define OPCODE_FLAGS_AT 8    /* 6 bits: TR_CF and so on */
#define OPCODE_REG_AT 32     /* ModRM.reg is a general register */
#define OPCODE_RM_AT 33   /* ModRM.rm, if it is one; written memory has the bit of writing, too */
#define OPCODE_VVVV_AT 34 /* VEX.vvvv */
#define OPCODE_LOW_AT 35  /* the opcode's low three bits */
#define OPCODE_KIND_AT 36 /* 4 bits: enum tr_kind */
#define OPCODE_IMMEDIATE_AT 40 /* 4 bits: size of the immediate */
#define OPCODE_ACTION_AT 52    /* 5 bits: enum opcode_action */

#define OPCODE_BIT(n) (UINT64_C(1) << (n))
#define OPCODE_NARROWS OPCODE_BIT(14)      /* the immediate has 2 bytes if operands have 16 bits */
#define OPCODE_DISPLACEMENT OPCODE_BIT(15) /* the immediate is a displacement ... */
#define OPCODE_RELATIVE OPCODE_BIT(30)     /* ... from the next instruction: a branch */
#define OPCODE_PLAIN OPCODE_BIT(31)        /* no further action */
#define OPCODE_MODRM OPCODE_BIT(44)
#define OPCODE_BYTE_REG OPCODE_BIT(45)  /* ModRM.reg or the opcode numbers a byte register */
#define OPCODE_BYTE_RM OPCODE_BIT(46)   /* ModRM.rm does */
#define OPCODE_STORES OPCODE_BIT(47)    /* writes memory, but no general register instead */
#define OPCODE_ADDRESS OPCODE_BIT(57)   /* the memory operand is not accessed */
#define OPCODE_VSIB OPCODE_BIT(58)      /* the index is a vector */
#define OPCODE_WHOLE OPCODE_BIT(59)     /* a 66 prefix makes no write partial */
#define OPCODE_REGISTERS OPCODE_BIT(60) /* ModRM.mod is ignored: rm is a register */

/* A prefix or escape: enum opcode_escape says which. */
#define OPCODE_ESCAPE OPCODE_BIT(62)
/* A choice: another word counts, in row OPCODE_ROW of tr_opcode_choices; a selector says which. */
#define OPCODE_CHOICE OPCODE_BIT(63)
#define OPCODE_SELECTOR_AT 32
#define OPCODE_ROW 0xff

/* What the bits cannot express. */
enum opcode_action {
    OPCODE_NO_ACTION,
    OPCODE_SHIFT,           /* by an immediate, which decides on the flags */
    OPCODE_DOUBLE_SHIFT,    /* the same, SHLD and SHRD */
    OPCODE_STRING,          /* may be repeated; the segment prefix counts */
    OPCODE_STRING_ES,       /* may be repeated; ES, always */
    OPCODE_ABSOLUTE,        /* MOV between RAX and an address */
    OPCODE_IMPLICIT_MEMORY, /* the segment prefix counts */
    OPCODE_COUNTER,         /* RCX, or ECX with a 67 prefix */
    OPCODE_PUSH_POP,
    OPCODE_LEA,
    OPCODE_EXCHANGE, /* XCHG: locked if with memory */
    OPCODE_FENCE,    /* MFENCE */
    OPCODE_TIME_STAMP,
    OPCODE_POP_BYTES, /* RET imm16 */
    OPCODE_READS_GS_BASE,
    OPCODE_SYSTEM_CALL, /* RFLAGS go to R11 */
    OPCODE_READS_ALL,   /* calls of hypervisors: any register may be an argument */
    OPCODE_INTERRUPT,   /* INT: 80 is a system call */
};

enum opcode_selector {
    OPCODE_BY_REG,      /* ModRM.reg */
    OPCODE_BY_FORM_REG, /* the same; the next row with ModRM.mod 3 */
    OPCODE_BY_FORM,     /* 0 memory, 1 ModRM.mod 3 */
    OPCODE_BY_RM,       /* ModRM.rm */
    OPCODE_BY_PREFIX,   /* 0 none, 1 66, 2 F3, 3 F2: as VEX.pp */
    OPCODE_BY_REX_B,
    OPCODE_BY_REX_W,
};

enum opcode_escape {
    OPCODE_PREFIX_66 = 1 << 8,
    OPCODE_PREFIX_67 = 1 << 9,
    OPCODE_PREFIX_LOCK = 1 << 10,
    OPCODE_PREFIX_F3 = 1 << 11,
    OPCODE_PREFIX_F2 = 1 << 12,
    OPCODE_PREFIX_FS = 1 << 13,
    OPCODE_PREFIX_GS = 1 << 14,
    OPCODE_PREFIX_IGNORED = 1 << 15, /* ES, CS, SS, DS: mean nothing in 64-bit mode */
    OPCODE_PREFIX_REX = 1 << 16,
    OPCODE_PREFIXES = 0x1ff << 8,
    OPCODE_TWO_BYTES = 1 << 17,
    OPCODE_VEX2 = 1 << 18,
    OPCODE_VEX3 = 1 << 19,
    OPCODE_EVEX = 1 << 20,
    OPCODE_POP_OR_XOP = 1 << 21, /* a choice as well, that of POP */
};

/* Where the tables of the maps of opcodes are. */
enum {
    OPCODES_ONE_BYTE,
    OPCODES_0F,
    OPCODES_0F38,
    OPCODES_0F3A,
    OPCODES_VEX, /* and 7 more: by the map that the prefix names */
    OPCODES_EVEX = OPCODES_VEX + 8,
    OPCODES_XOP = OPCODES_EVEX + 8, /* maps 8, 9 and 10 */
    OPCODE_TABLES = OPCODES_XOP + 3,
    OPCODE_FIRST_XOP_MAP = 8,
};

/* Hidden: reached without a relocation. */
extern const uint64_t tr_opcodes[OPCODE_TABLES][256] __attribute__((visibility("hidden")));
extern const uint64_t tr_opcode_choices[][8] __attribute__((visibility("hidden")));

#endif
