#include "runtime/translator/code/opcodes.h"
#include "runtime/translator/code/instruction.h"

/* The vocabulary of the tables. R reads, W writes, X does both. */
#define FLAGS_R(set) ((uint64_t)(set) << OPCODE_FLAGS_AT)
#define FLAGS_W(set) (FLAGS_R(set) << OPCODE_WRITTEN)
#define FLAGS_X(set) (FLAGS_R(set) | FLAGS_W(set))
#define IMPLICIT_R(set) ((uint64_t)(set) << OPCODE_IMPLICIT_AT)
#define IMPLICIT_W(set) (IMPLICIT_R(set) << OPCODE_WRITTEN)
#define IMPLICIT_X(set) (IMPLICIT_R(set) | IMPLICIT_W(set))
#define KIND(kind) ((uint64_t)(kind) << OPCODE_KIND_AT)
#define THEN(size) ((uint64_t)(size) << OPCODE_IMMEDIATE_AT)
#define ACTION(action) ((uint64_t)(action) << OPCODE_ACTION_AT)
#define CHOICE(selector, row) (OPCODE_CHOICE | (uint64_t)(selector) << OPCODE_SELECTOR_AT | (row))

#define M OPCODE_MODRM
#define REG_R (M | UINT64_C(1) << OPCODE_REG_AT)
#define REG_W (M | UINT64_C(1) << OPCODE_REG_AT << OPCODE_WRITTEN)
#define REG_X (REG_R | REG_W)
#define RM_R (M | UINT64_C(1) << OPCODE_RM_AT)
#define RM_W (M | UINT64_C(1) << OPCODE_RM_AT << OPCODE_WRITTEN)
#define RM_X (RM_R | RM_W)
#define VVVV_R (M | UINT64_C(1) << OPCODE_VVVV_AT)
#define VVVV_W (M | UINT64_C(1) << OPCODE_VVVV_AT << OPCODE_WRITTEN)
#define LOW_R (UINT64_C(1) << OPCODE_LOW_AT)
#define LOW_W (UINT64_C(1) << OPCODE_LOW_AT << OPCODE_WRITTEN)
#define LOW_X (LOW_R | LOW_W)
#define LOW_8 OPCODE_BYTE_REG
#define BYTE_REG OPCODE_BYTE_REG
#define BYTE_RM OPCODE_BYTE_RM
#define BYTES (BYTE_REG | BYTE_RM)
#define STORES (M | OPCODE_STORES)
#define ADDRESS (M | OPCODE_ADDRESS)
#define VSIB (M | OPCODE_VSIB)
#define WHOLE OPCODE_WHOLE
#define REGISTERS (M | OPCODE_REGISTERS)
#define PLAIN OPCODE_PLAIN
#define IMM_8 THEN(1)
#define IMM_16 THEN(2)
#define IMM_32 THEN(4)
#define IMM_64 THEN(8)
#define IMM_8_8 THEN(2)                  /* two: EXTRQ, INSERTQ */
#define IMM_16_8 THEN(3)                 /* two: ENTER */
#define IMM_Z (THEN(4) | OPCODE_NARROWS) /* of the operand's size, at most 32 bits */
#define RELATIVE_8 (THEN(1) | OPCODE_DISPLACEMENT | OPCODE_RELATIVE)
#define RELATIVE_32 (THEN(4) | OPCODE_DISPLACEMENT | OPCODE_RELATIVE)
#define RELATIVE_Z (RELATIVE_32 | OPCODE_NARROWS)

enum {
    AX = 1 << 0,
    CX = 1 << 1,
    DX = 1 << 2,
    BX = 1 << 3,
    SP = 1 << 4,
    BP = 1 << 5,
    SI = 1 << 6,
    DI = 1 << 7,
};

#define STACK IMPLICIT_X(SP)
/* Whatever signal or system call follows, it sees the flags. */
#define TRAP (KIND(TR_TRAP) | FLAGS_R(TR_ALL_FLAGS))
#define FAR (KIND(TR_FAR) | FLAGS_R(TR_ALL_FLAGS))
#define GS_BASE KIND(TR_GS_BASE)
#define FENCE (M | ACTION(OPCODE_FENCE))
/* An instruction of a later processor: its operands might be anything, its length goes by its map.
 */
#define UNKNOWN (REG_X | RM_X | STORES | FLAGS_R(TR_ALL_FLAGS))
#define UNKNOWN_VECTOR (UNKNOWN | VVVV_R | VVVV_W)

/* ---- flags ---- */

#define ALL_W FLAGS_W(TR_ALL_FLAGS)
/* AND, OR, XOR and TEST: the manuals leave AF undefined, all processors clear it (a test asks this one). */
#define LOGIC ALL_W
#define SHIFTED FLAGS_W(TR_ALL_FLAGS & ~TR_AF) /* AF is undefined */
#define CARRY (ALL_W | FLAGS_R(TR_CF))
#define COUNT FLAGS_W(TR_ALL_FLAGS & ~TR_CF)
#define ROTATE FLAGS_W(TR_CF | TR_OF)
#define MULTIPLY FLAGS_W(TR_CF | TR_OF)
#define BIT FLAGS_W(TR_CF)
#define BIT_FIELD FLAGS_W(TR_CF | TR_ZF | TR_OF)          /* BEXTR */
#define LOWEST_BIT FLAGS_W(TR_CF | TR_ZF | TR_SF | TR_OF) /* BLSR, BZHI, ANDN and others */
#define X87_COMPARE FLAGS_W(TR_CF | TR_PF | TR_ZF)

/* The 16 conditions' opcodes from `first` on. */
#define CONDITIONS(first, word)                                                                    \
    [(first)] = (word) | FLAGS_R(TR_OF), [(first) + 1] = (word) | FLAGS_R(TR_OF),                  \
    [(first) + 2] = (word) | FLAGS_R(TR_CF), [(first) + 3] = (word) | FLAGS_R(TR_CF),              \
    [(first) + 4] = (word) | FLAGS_R(TR_ZF), [(first) + 5] = (word) | FLAGS_R(TR_ZF),              \
    [(first) + 6] = (word) | FLAGS_R(TR_CF | TR_ZF),                                               \
    [(first) + 7] = (word) | FLAGS_R(TR_CF | TR_ZF), [(first) + 8] = (word) | FLAGS_R(TR_SF),      \
    [(first) + 9] = (word) | FLAGS_R(TR_SF), [(first) + 10] = (word) | FLAGS_R(TR_PF),             \
    [(first) + 11] = (word) | FLAGS_R(TR_PF), [(first) + 12] = (word) | FLAGS_R(TR_SF | TR_OF),    \
    [(first) + 13] = (word) | FLAGS_R(TR_SF | TR_OF),                                              \
    [(first) + 14] = (word) | FLAGS_R(TR_SF | TR_OF | TR_ZF),                                      \
    [(first) + 15] = (word) | FLAGS_R(TR_SF | TR_OF | TR_ZF)

/* The six opcodes, from `first` on, of an operation on two operands that writes the first. */
#define BINARY(first, flags)                                                                       \
    [(first)] = RM_X | REG_R | BYTES | (flags), [(first) + 1] = RM_X | REG_R | (flags),            \
    [(first) + 2] = REG_X | RM_R | BYTES | (flags), [(first) + 3] = REG_X | RM_R | (flags),        \
    [(first) + 4] = IMPLICIT_X(AX) | IMM_8 | (flags),                                              \
    [(first) + 5] = IMPLICIT_X(AX) | IMM_Z | (flags)

/* ---- rows of choices ---- */

enum row {
    BINARY_BYTE,    /* 80 */
    BINARY_Z,       /* 81 */
    BINARY_SHORT,   /* 83 */
    LOAD_SEGMENT,   /* 8e */
    POP_RM,         /* 8f */
    EXCHANGE_AX,    /* 90 */
    MOVE_IMMEDIATE, /* b8 to bf */
    SHIFT_BYTE,     /* c0 */
    SHIFT,          /* c1 */
    MOVE_BYTE,      /* c6 memory */
    MOVE_BYTE_REG,  /* c6 register */
    MOVE,           /* c7 memory */
    MOVE_REG,       /* c7 register */
    ABORT,          /* c6 register /7 */
    BEGIN,          /* c7 register /7 */
    SHIFT_BYTE_1,   /* d0 */
    SHIFT_1,        /* d1 */
    SHIFT_BYTE_CL,  /* d2 */
    SHIFT_CL,       /* d3 */
    X87_D9,         /* memory; register forms follow */
    X87_D9_REG,
    X87_DA,
    X87_DA_REG,
    X87_DB,
    X87_DB_REG,
    X87_DD,
    X87_DD_REG,
    X87_DF,
    X87_DF_REG,
    UNARY_BYTE, /* f6 */
    UNARY,      /* f7 */
    COUNT_BYTE, /* fe */
    GROUP_5,    /* ff memory */
    GROUP_5_REG,
    GROUP_6, /* 0f 00 */
    GROUP_6_LKGS,
    GROUP_7, /* 0f 01 memory */
    GROUP_7_REG,
    VIRTUAL_MACHINE, /* 0f 01 c0 */
    MONITOR,         /* 0f 01 c8 */
    EXTENDED_STATE,  /* 0f 01 d0 */
    SECURE_MACHINE,  /* 0f 01 d8 */
    USER_INTERRUPT,  /* 0f 01 e8 */
    SERIALIZE,
    UI_RETURN,

    UI_TEST,
    UI_CLEAR,
    UI_SET,
    SWAP_GS, /* 0f 01 f8 */
    MONITORX,
    BOUND_LOAD,  /* 0f 1a */
    BOUND_STORE, /* 0f 1b */
    HINT,        /* 0f 1e */
    HINT_F3,
    HINT_F3_REG,
    CONVERT_FROM,     /* 0f 2a */
    CONVERT_TO,       /* 0f 2c, 0f 2d */
    EXTRACT_IMM,      /* 0f 78 */
    EXTRACT_REG,      /* 0f 79 */
    MOVE_FROM_VECTOR, /* 0f 7e */
    GROUP_15,         /* 0f ae memory */
    GROUP_15_REG,
    XSAVE,
    XSAVEOPT,
    READ_FS_BASE,
    READ_GS_BASE,
    WRITE_FS_BASE,
    WRITE_GS_BASE,
    PTWRITE,
    LOAD_FENCE,
    MEMORY_FENCE,
    POPULATION, /* 0f b8 */
    GROUP_8,    /* 0f ba */
    GROUP_9,    /* 0f c7 memory */
    GROUP_9_REG,
    RANDOM,
    SEED,
    MOVE_QUAD,       /* 0f d6 */
    KEY_LOCKER_WIDE, /* 0f 38 d8 */
    KEY_LOCKER_LOAD, /* 0f 38 dc */
    KEY_LOCKER_LOAD_F3,
    KEY_LOCKER,    /* 0f 38 dd to df */
    MOVE_SWAPPED,  /* 0f 38 f0 */
    STORE_SWAPPED, /* 0f 38 f1 */
    SHADOW_USER,   /* 0f 38 f5 */
    ADD_CARRY,     /* 0f 38 f6 */
    DIRECT_64,     /* 0f 38 f8 */
    DIRECT_64_REG,
    ENCODE_KEY,            /* 0f 38 fa, fb */
    VEX_STATUS,            /* VEX 0f ae */
    TILE_CONFIG,           /* VEX 0f38 49 */
    TILE_LOAD,             /* VEX 0f38 4b */
    LOWEST_SET,            /* VEX 0f38 f3 */
    BITS_HIGH,             /* VEX 0f38 f5 */
    MULTIPLY_X,            /* VEX 0f38 f6 */
    SHIFT_X,               /* VEX 0f38 f7 */
    TBM_1,                 /* XOP.9 01 */
    TBM_2,                 /* XOP.9 02 */
    PROFILE,               /* XOP.9 12 */
    PROFILE_INSERT,        /* XOP.A 12 */
    CONVERT_UNSIGNED,      /* EVEX 0f 78, 79 */
    CONVERT_FROM_UNSIGNED, /* EVEX 0f 7b */
    NARROW,                /* EVEX 0f38 10 to 15, 20 to 25, 30 to 35 */
    ROWS,
};

/* The eight operations of 80 to 83. */
#define BINARIES(operand)                                                                          \
    {                                                                                              \
        RM_X | ALL_W | (operand), RM_X | LOGIC | (operand), RM_X | CARRY | (operand),              \
            RM_X | CARRY | (operand), RM_X | LOGIC | (operand), RM_X | ALL_W | (operand),          \
            RM_X | LOGIC | (operand), RM_R | ALL_W | (operand)                                     \
    }

/* The eight operations of C0, C1 and D0 to D3: ROL, ROR; RCL, RCR; SHL, SHR, SHL, SAR. */
#define SHIFTS(operand, rotate, through_carry, shift)                                              \
    {                                                                                              \
        RM_X | (operand) | (rotate), RM_X | (operand) | (rotate),                                  \
            RM_X | (operand) | (through_carry), RM_X | (operand) | (through_carry),                \
            RM_X | (operand) | (shift), RM_X | (operand) | (shift), RM_X | (operand) | (shift),    \
            RM_X | (operand) | (shift)                                                             \
    }
#define SHIFTS_BY_IMMEDIATE(operand)                                                               \
    SHIFTS(IMM_8 | (operand), ACTION(OPCODE_SHIFT) | ROTATE, FLAGS_R(TR_CF),                       \
           ACTION(OPCODE_SHIFT) | SHIFTED)
#define SHIFTS_BY_1(operand) SHIFTS(operand, ROTATE, ROTATE | FLAGS_R(TR_CF), SHIFTED)
#define SHIFTS_BY_CL(operand) SHIFTS(IMPLICIT_R(CX) | (operand), 0, FLAGS_R(TR_CF), 0)

#define XSAVE_MASK IMPLICIT_R(AX | DX)

const uint64_t tr_opcode_choices[][8] = {
    [BINARY_BYTE] = BINARIES(BYTE_RM | IMM_8),
    [BINARY_Z] = BINARIES(IMM_Z),
    [BINARY_SHORT] = BINARIES(IMM_8),
    [LOAD_SEGMENT] = {RM_R, 0, RM_R, RM_R, RM_R, RM_R | GS_BASE, 0, 0},
    [POP_RM] = {RM_W | STACK},
    [EXCHANGE_AX] = {PLAIN, IMPLICIT_X(AX) | LOW_X},
    [MOVE_IMMEDIATE] = {LOW_W | IMM_Z, LOW_W | IMM_64},
    [SHIFT_BYTE] = SHIFTS_BY_IMMEDIATE(BYTE_RM),
    [SHIFT] = SHIFTS_BY_IMMEDIATE(0),
    [MOVE_BYTE] = {RM_W | IMM_8},
    [MOVE_BYTE_REG] = {[0] = RM_X | BYTE_RM | IMM_8, [7] = CHOICE(OPCODE_BY_RM, ABORT)},
    [MOVE] = {RM_W | IMM_Z},
    [MOVE_REG] = {[0] = RM_W | IMM_Z, [7] = CHOICE(OPCODE_BY_RM, BEGIN)},
    [ABORT] = {M | IMM_8 | IMPLICIT_X(AX)},
    [BEGIN] = {M | RELATIVE_Z | KIND(TR_XBEGIN) | IMPLICIT_X(AX) | FLAGS_R(TR_ALL_FLAGS)},
    [SHIFT_BYTE_1] = SHIFTS_BY_1(BYTE_RM),
    [SHIFT_1] = SHIFTS_BY_1(0),
    [SHIFT_BYTE_CL] = SHIFTS_BY_CL(BYTE_RM),
    [SHIFT_CL] = SHIFTS_BY_CL(0),
    [X87_D9] = {M, 0, STORES, STORES, M, M, STORES, STORES},
    [X87_D9_REG] = {M, M, M, M, M, M, M, M},
    [X87_DA] = {M, M, M, M, M, M, M, M},
    [X87_DA_REG] = {M | FLAGS_R(TR_CF), M | FLAGS_R(TR_ZF), M | FLAGS_R(TR_CF | TR_ZF),
                    M | FLAGS_R(TR_PF), 0, M, 0, 0},
    [X87_DB] = {M, STORES, STORES, STORES, 0, M, 0, STORES},
    [X87_DB_REG] = {M | FLAGS_R(TR_CF), M | FLAGS_R(TR_ZF), M | FLAGS_R(TR_CF | TR_ZF),
                    M | FLAGS_R(TR_PF), M, M | X87_COMPARE, M | X87_COMPARE, 0},
    [X87_DD] = {M, STORES, STORES, STORES, M, 0, STORES, STORES},
    [X87_DD_REG] = {M, M, M, M, M, M, 0, 0},
    [X87_DF] = {M, STORES, STORES, STORES, M, M, STORES, STORES},
    [X87_DF_REG] = {M, M, M, M, M | IMPLICIT_X(AX), M | X87_COMPARE, M | X87_COMPARE, 0},
    [UNARY_BYTE] = {RM_R | BYTE_RM | IMM_8 | LOGIC, RM_R | BYTE_RM | IMM_8 | LOGIC, RM_X | BYTE_RM,
                    RM_X | BYTE_RM | ALL_W, RM_R | BYTE_RM | IMPLICIT_X(AX) | MULTIPLY,
                    RM_R | BYTE_RM | IMPLICIT_X(AX) | MULTIPLY, RM_R | BYTE_RM | IMPLICIT_X(AX),
                    RM_R | BYTE_RM | IMPLICIT_X(AX)},
    [UNARY] = {RM_R | IMM_Z | LOGIC, RM_R | IMM_Z | LOGIC, RM_X, RM_X | ALL_W,
               RM_R | IMPLICIT_X(AX) | IMPLICIT_W(DX) | MULTIPLY,
               RM_R | IMPLICIT_X(AX) | IMPLICIT_W(DX) | MULTIPLY, RM_R | IMPLICIT_X(AX | DX),
               RM_R | IMPLICIT_X(AX | DX)},
    [COUNT_BYTE] = {RM_X | BYTE_RM | COUNT, RM_X | BYTE_RM | COUNT},
    [GROUP_5] = {RM_X | COUNT, RM_X | COUNT, RM_R | STACK | KIND(TR_INDIRECT_CALL), M | STACK | FAR,
                 RM_R | KIND(TR_INDIRECT_JUMP), M | FAR, RM_R | STACK, 0},
    [GROUP_5_REG] = {RM_X | COUNT, RM_X | COUNT, RM_R | STACK | KIND(TR_INDIRECT_CALL), 0,
                     RM_R | KIND(TR_INDIRECT_JUMP), 0, RM_R | STACK, 0},

    [GROUP_6] = {RM_W, RM_W, M | TRAP, M | TRAP, RM_R | FLAGS_W(TR_ZF), RM_R | FLAGS_W(TR_ZF),
                 CHOICE(OPCODE_BY_PREFIX, GROUP_6_LKGS), 0},
    [GROUP_6_LKGS] = {0, 0, 0, M | TRAP},
    [GROUP_7] = {STORES, STORES, M | TRAP, M | TRAP, STORES, STORES, M | TRAP, M | TRAP},
    [GROUP_7_REG] = {CHOICE(OPCODE_BY_RM, VIRTUAL_MACHINE), CHOICE(OPCODE_BY_RM, MONITOR),
                     CHOICE(OPCODE_BY_RM, EXTENDED_STATE), CHOICE(OPCODE_BY_RM, SECURE_MACHINE),
                     RM_W, CHOICE(OPCODE_BY_RM, USER_INTERRUPT), M | TRAP,
                     CHOICE(OPCODE_BY_RM, SWAP_GS)},
    [VIRTUAL_MACHINE] = {M | TRAP, M | IMPLICIT_X(AX) | ACTION(OPCODE_READS_ALL), M | TRAP,
                         M | TRAP, M | TRAP, M | TRAP, M | TRAP, M | TRAP},
    [MONITOR] = {M | TRAP, M | TRAP, M | TRAP, M | TRAP, M | TRAP, M | TRAP, M | TRAP, M | TRAP},
    [EXTENDED_STATE] = {M | IMPLICIT_R(CX) | IMPLICIT_W(AX | DX) | WHOLE, M | TRAP, 0, 0,
                        M | IMPLICIT_R(AX | CX), M, M | ALL_W,
                        M | FAR | IMPLICIT_X(AX | BX | CX | DX)},
    [SECURE_MACHINE] = {M | TRAP, M | IMPLICIT_X(AX) | ACTION(OPCODE_READS_ALL), M | TRAP, M | TRAP,
                        M | TRAP, M | TRAP, M | TRAP, M | TRAP},
    [USER_INTERRUPT] = {CHOICE(OPCODE_BY_PREFIX, SERIALIZE), M, M, 0,
                        CHOICE(OPCODE_BY_PREFIX, UI_RETURN), CHOICE(OPCODE_BY_PREFIX, UI_TEST),
                        CHOICE(OPCODE_BY_PREFIX, UI_CLEAR), CHOICE(OPCODE_BY_PREFIX, UI_SET)},
    [SERIALIZE] = {M, 0, M | TRAP, M},
    [UI_RETURN] = {0, 0, M | STACK | FAR, 0},
    [UI_TEST] = {0, 0, M | ALL_W, 0},
    [UI_CLEAR] = {M | IMPLICIT_R(CX) | IMPLICIT_W(AX | DX) | WHOLE, 0, M, 0},
    [UI_SET] = {M | IMPLICIT_R(AX | CX | DX), 0, M, 0},
    [SWAP_GS] = {M | GS_BASE, M | IMPLICIT_W(AX | CX | DX) | WHOLE | ACTION(OPCODE_TIME_STAMP),
                 CHOICE(OPCODE_BY_PREFIX, MONITORX), M | IMPLICIT_R(AX | BX | CX),
                 STORES | IMPLICIT_R(AX) | ACTION(OPCODE_IMPLICIT_MEMORY),
                 M | IMPLICIT_R(CX) | IMPLICIT_W(AX | DX) | WHOLE, M | TRAP, M | TRAP},
    [MONITORX] = {M | IMPLICIT_R(AX | CX | DX) | ACTION(OPCODE_IMPLICIT_MEMORY), 0,
                  M | FLAGS_W(TR_CF), 0},
    [BOUND_LOAD] = {M, M, RM_R | ADDRESS, RM_R | ADDRESS},
    [BOUND_STORE] = {STORES, STORES, ADDRESS, RM_R | ADDRESS},
    [HINT] = {ADDRESS, ADDRESS, CHOICE(OPCODE_BY_FORM_REG, HINT_F3), ADDRESS},
    [HINT_F3] = {ADDRESS, ADDRESS, ADDRESS, ADDRESS, ADDRESS, ADDRESS, ADDRESS, ADDRESS},
    [HINT_F3_REG] = {M, RM_X, M, M, M, M, M, M}, /* /1 RDSSP: without shadow stacks a NOP */
    [CONVERT_FROM] = {M, M, RM_R, RM_R},
    [CONVERT_TO] = {M, M, REG_W | WHOLE, REG_W | WHOLE},
    [EXTRACT_IMM] = {M | TRAP, M | IMM_8_8, 0, M | IMM_8_8},
    [EXTRACT_REG] = {M | TRAP, M, 0, M},
    [MOVE_FROM_VECTOR] = {RM_W, RM_W | WHOLE, M, 0},
    [GROUP_15] = {STORES, M, M, STORES, CHOICE(OPCODE_BY_PREFIX, XSAVE), M | XSAVE_MASK,
                  CHOICE(OPCODE_BY_PREFIX, XSAVEOPT), M},
    [GROUP_15_REG] = {CHOICE(OPCODE_BY_PREFIX, READ_FS_BASE),
                      CHOICE(OPCODE_BY_PREFIX, READ_GS_BASE),
                      CHOICE(OPCODE_BY_PREFIX, WRITE_FS_BASE),
                      CHOICE(OPCODE_BY_PREFIX, WRITE_GS_BASE), CHOICE(OPCODE_BY_PREFIX, PTWRITE),
                      CHOICE(OPCODE_BY_PREFIX, LOAD_FENCE), CHOICE(OPCODE_BY_PREFIX, MEMORY_FENCE),
                      M},
    [XSAVE] = {STORES | XSAVE_MASK, 0, M, 0},
    [XSAVEOPT] = {STORES | XSAVE_MASK, M, M | TRAP, 0},
    [READ_FS_BASE] = {0, 0, RM_W | WHOLE, 0},
    [READ_GS_BASE] = {0, 0, RM_W | WHOLE | ACTION(OPCODE_READS_GS_BASE), 0},
    [WRITE_FS_BASE] = {0, 0, RM_R, 0},
    [WRITE_GS_BASE] = {0, 0, RM_R | GS_BASE, 0},
    [PTWRITE] = {0, 0, RM_R, 0},
    [LOAD_FENCE] = {M, 0, RM_R, 0}, /* F3: INCSSP */
    [MEMORY_FENCE] = {FENCE, RM_R | IMPLICIT_R(AX | DX) | ALL_W, RM_R,
                      RM_R | IMPLICIT_R(AX | DX) | ALL_W}, /* 66 TPAUSE, F3 UMONITOR, F2 UMWAIT */
    [POPULATION] = {0, 0, REG_W | RM_R | ALL_W, 0},
    [GROUP_8] = {0, 0, 0, 0, RM_R | IMM_8 | BIT, RM_X | IMM_8 | BIT, RM_X | IMM_8 | BIT,
                 RM_X | IMM_8 | BIT},
    [GROUP_9] = {0, STORES | IMPLICIT_R(AX | BX | CX | DX) | IMPLICIT_W(AX | DX) | FLAGS_W(TR_ZF),
                 0, M | TRAP, STORES | XSAVE_MASK, M | TRAP, M | TRAP, M | TRAP},
    [GROUP_9_REG] = {0, 0, 0, 0, 0, 0, CHOICE(OPCODE_BY_PREFIX, RANDOM),
                     CHOICE(OPCODE_BY_PREFIX, SEED)},
    [RANDOM] = {RM_W | ALL_W, RM_W | ALL_W, RM_R, 0},       /* F3: SENDUIPI */
    [SEED] = {RM_W | ALL_W, RM_W | ALL_W, RM_W | WHOLE, 0}, /* F3: RDPID */
    [MOVE_QUAD] = {0, STORES, M, M},

    [KEY_LOCKER_WIDE] = {UNKNOWN, UNKNOWN, M | ALL_W, UNKNOWN},
    [KEY_LOCKER_LOAD] = {UNKNOWN, M, CHOICE(OPCODE_BY_FORM, KEY_LOCKER_LOAD_F3), UNKNOWN},
    [KEY_LOCKER_LOAD_F3] = {M | ALL_W, M | TRAP},
    [KEY_LOCKER] = {UNKNOWN, M, M | ALL_W, UNKNOWN},
    [MOVE_SWAPPED] = {REG_W | RM_R, REG_W | RM_R, 0, REG_X | RM_R | BYTE_RM},
    [STORE_SWAPPED] = {REG_R | RM_W, REG_R | RM_W, 0, REG_X | RM_R},
    [SHADOW_USER] = {UNKNOWN, M | TRAP, UNKNOWN, UNKNOWN},
    [ADD_CARRY] = {REG_R | STORES, REG_X | RM_R | FLAGS_X(TR_CF), REG_X | RM_R | FLAGS_X(TR_OF),
                   UNKNOWN},
    [DIRECT_64] = {UNKNOWN, REG_R | STORES, M | TRAP, REG_R | STORES | ALL_W},
    [DIRECT_64_REG] = {UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN},
    [ENCODE_KEY] = {UNKNOWN, UNKNOWN, REG_W | RM_R | ALL_W | WHOLE, UNKNOWN},

    [VEX_STATUS] = {0, 0, M, STORES, 0, 0, 0, 0},
    [TILE_CONFIG] = {M, STORES, UNKNOWN_VECTOR, M},
    [TILE_LOAD] = {UNKNOWN_VECTOR, M, STORES, M},
    [LOWEST_SET] = {0, VVVV_W | RM_R | LOWEST_BIT, VVVV_W | RM_R | LOWEST_BIT,
                    VVVV_W | RM_R | LOWEST_BIT, 0, 0, 0, 0},
    [BITS_HIGH] = {REG_W | RM_R | VVVV_R | LOWEST_BIT, UNKNOWN_VECTOR, REG_W | RM_R | VVVV_R,
                   REG_W | RM_R | VVVV_R}, /* BZHI, PEXT, PDEP */
    [MULTIPLY_X] = {UNKNOWN_VECTOR, UNKNOWN_VECTOR, UNKNOWN_VECTOR,
                    REG_W | VVVV_W | RM_R | IMPLICIT_R(DX)},
    [SHIFT_X] = {REG_W | RM_R | VVVV_R | BIT_FIELD, REG_W | RM_R | VVVV_R, REG_W | RM_R | VVVV_R,
                 REG_W | RM_R | VVVV_R}, /* BEXTR, SHLX, SARX, SHRX */
    [TBM_1] = {0, VVVV_W | RM_R | LOWEST_BIT, VVVV_W | RM_R | LOWEST_BIT,
               VVVV_W | RM_R | LOWEST_BIT, VVVV_W | RM_R | LOWEST_BIT, VVVV_W | RM_R | LOWEST_BIT,
               VVVV_W | RM_R | LOWEST_BIT, VVVV_W | RM_R | LOWEST_BIT},
    [TBM_2] = {0, VVVV_W | RM_R | LOWEST_BIT, 0, 0, 0, 0, VVVV_W | RM_R | LOWEST_BIT, 0},
    [PROFILE] = {RM_R, RM_W, 0, 0, 0, 0, 0, 0},
    [PROFILE_INSERT] = {VVVV_R | RM_R | IMM_32 | BIT, VVVV_R | RM_R | IMM_32, 0, 0, 0, 0, 0, 0},
    [CONVERT_UNSIGNED] = {M, M, REG_W, REG_W},
    [CONVERT_FROM_UNSIGNED] = {M, M, RM_R, RM_R},
    [NARROW] = {M, M, STORES, M},
};

/* ---- opcodes ---- */

#define PREFIX(which) (OPCODE_ESCAPE | (which))
#define STRING ACTION(OPCODE_STRING)
#define STRING_ES ACTION(OPCODE_STRING_ES)
#define OFFSET (THEN(8) | OPCODE_DISPLACEMENT | ACTION(OPCODE_ABSOLUTE))
#define VECTOR_IMM (M | IMM_8)

const uint64_t tr_opcodes[OPCODE_TABLES][256] =
    {
        [OPCODES_ONE_BYTE] =
            {
                BINARY(0x00, ALL_W),
                BINARY(0x08, LOGIC),
                [0x0f] = OPCODE_ESCAPE | OPCODE_TWO_BYTES,
                BINARY(0x10, CARRY),
                BINARY(0x18, CARRY),
                BINARY(0x20, LOGIC),
                [0x26] = PREFIX(OPCODE_PREFIX_IGNORED),
                BINARY(0x28, ALL_W),
                [0x2e] = PREFIX(OPCODE_PREFIX_IGNORED),
                BINARY(0x30, LOGIC),
                [0x36] = PREFIX(OPCODE_PREFIX_IGNORED),
                [0x38] = RM_R | REG_R | BYTES | ALL_W,
                [0x39] = RM_R | REG_R | ALL_W,
                [0x3a] = RM_R | REG_R | BYTES | ALL_W,
                [0x3b] = RM_R | REG_R | ALL_W,
                [0x3c] = IMPLICIT_R(AX) | IMM_8 | ALL_W,
                [0x3d] = IMPLICIT_R(AX) | IMM_Z | ALL_W,
                [0x3e] = PREFIX(OPCODE_PREFIX_IGNORED),
                [0x40 ... 0x4f] = PREFIX(OPCODE_PREFIX_REX),
                [0x50 ... 0x57] = LOW_R | STACK | ACTION(OPCODE_PUSH_POP),
                [0x58 ... 0x5f] = LOW_W | STACK | ACTION(OPCODE_PUSH_POP),
                [0x62] = OPCODE_ESCAPE | OPCODE_EVEX,
                [0x63] = REG_W | RM_R, /* MOVSXD */
                [0x64] = PREFIX(OPCODE_PREFIX_FS),
                [0x65] = PREFIX(OPCODE_PREFIX_GS),
                [0x66] = PREFIX(OPCODE_PREFIX_66),
                [0x67] = PREFIX(OPCODE_PREFIX_67),
                [0x68] = STACK | IMM_Z,
                [0x69] = REG_W | RM_R | IMM_Z | MULTIPLY,
                [0x6a] = STACK | IMM_8,
                [0x6b] = REG_W | RM_R | IMM_8 | MULTIPLY,
                [0x6c ... 0x6d] =
                    IMPLICIT_R(DX) | IMPLICIT_X(DI) | OPCODE_STORES | STRING_ES, /* INS */
                [0x6e ... 0x6f] = IMPLICIT_R(DX) | IMPLICIT_X(SI) | STRING,      /* OUTS */
                CONDITIONS(0x70, KIND(TR_CONDITIONAL) | RELATIVE_8),
                [0x80] = CHOICE(OPCODE_BY_REG, BINARY_BYTE),
                [0x81] = CHOICE(OPCODE_BY_REG, BINARY_Z),
                [0x83] = CHOICE(OPCODE_BY_REG, BINARY_SHORT),
                [0x84] = RM_R | REG_R | BYTES | LOGIC,
                [0x85] = RM_R | REG_R | LOGIC,
                [0x86] = RM_X | REG_X | BYTES | ACTION(OPCODE_EXCHANGE),
                [0x87] = RM_X | REG_X | ACTION(OPCODE_EXCHANGE),
                [0x88] = RM_X | REG_R | BYTES,
                [0x89] = RM_W | REG_R,
                [0x8a] = REG_X | RM_R | BYTES,
                [0x8b] = REG_W | RM_R,
                [0x8c] = RM_W, /* from a segment register */
                [0x8d] = REG_W | ADDRESS | ACTION(OPCODE_LEA),
                [0x8e] = CHOICE(OPCODE_BY_REG, LOAD_SEGMENT),
                [0x8f] = OPCODE_ESCAPE | OPCODE_POP_OR_XOP | CHOICE(OPCODE_BY_REG, POP_RM),
                [0x90] = CHOICE(OPCODE_BY_REX_B, EXCHANGE_AX),
                [0x91 ... 0x97] = IMPLICIT_X(AX) | LOW_X,
                [0x98] = IMPLICIT_X(AX),                  /* CBW */
                [0x99] = IMPLICIT_R(AX) | IMPLICIT_W(DX), /* CWD */
                [0x9b] = PLAIN,                           /* FWAIT */
                [0x9c] = STACK | FLAGS_R(TR_ALL_FLAGS),
                [0x9d] = STACK | ALL_W,
                [0x9e] = IMPLICIT_R(AX) | FLAGS_W(TR_ALL_FLAGS & ~TR_OF), /* SAHF */
                [0x9f] = IMPLICIT_X(AX) | FLAGS_R(TR_ALL_FLAGS & ~TR_OF), /* LAHF */
                [0xa0] = IMPLICIT_X(AX) | OFFSET,
                [0xa1] = IMPLICIT_W(AX) | OFFSET,
                [0xa2 ... 0xa3] = IMPLICIT_R(AX) | OFFSET | OPCODE_STORES,
                [0xa4 ... 0xa5] = IMPLICIT_X(SI | DI) | OPCODE_STORES | STRING,
                [0xa6 ... 0xa7] = IMPLICIT_X(SI | DI) | ALL_W | STRING,
                [0xa8] = IMPLICIT_R(AX) | IMM_8 | LOGIC,
                [0xa9] = IMPLICIT_R(AX) | IMM_Z | LOGIC,
                [0xaa ... 0xab] = IMPLICIT_R(AX) | IMPLICIT_X(DI) | OPCODE_STORES | STRING_ES,
                [0xac] = IMPLICIT_X(AX | SI) | STRING,
                [0xad] = IMPLICIT_W(AX) | IMPLICIT_X(SI) | STRING,
                [0xae ... 0xaf] = IMPLICIT_R(AX) | IMPLICIT_X(DI) | ALL_W | STRING_ES,
                [0xb0 ... 0xb7] = LOW_X | LOW_8 | IMM_8,
                [0xb8 ... 0xbf] = CHOICE(OPCODE_BY_REX_W, MOVE_IMMEDIATE),
                [0xc0] = CHOICE(OPCODE_BY_REG, SHIFT_BYTE),
                [0xc1] = CHOICE(OPCODE_BY_REG, SHIFT),
                [0xc2] = STACK | IMM_16 | KIND(TR_RETURN) | ACTION(OPCODE_POP_BYTES),
                [0xc3] = STACK | KIND(TR_RETURN),
                [0xc4] = OPCODE_ESCAPE | OPCODE_VEX3,
                [0xc5] = OPCODE_ESCAPE | OPCODE_VEX2,
                [0xc6] = CHOICE(OPCODE_BY_FORM_REG, MOVE_BYTE),
                [0xc7] = CHOICE(OPCODE_BY_FORM_REG, MOVE),
                [0xc8] = IMPLICIT_X(SP | BP) | IMM_16_8, /* ENTER */
                [0xc9] = IMPLICIT_X(SP | BP),            /* LEAVE */
                [0xca] = STACK | FAR | IMM_16,
                [0xcb] = STACK | FAR,
                [0xcc] = TRAP,
                [0xcd] = TRAP | IMM_8 | ACTION(OPCODE_INTERRUPT),
                [0xcf] = STACK | FAR,
                [0xd0] = CHOICE(OPCODE_BY_REG, SHIFT_BYTE_1),
                [0xd1] = CHOICE(OPCODE_BY_REG, SHIFT_1),
                [0xd2] = CHOICE(OPCODE_BY_REG, SHIFT_BYTE_CL),
                [0xd3] = CHOICE(OPCODE_BY_REG, SHIFT_CL),
                [0xd7] =
                    IMPLICIT_X(AX) | IMPLICIT_R(BX) | ACTION(OPCODE_IMPLICIT_MEMORY), /* XLAT */
                [0xd8] = M,
                [0xd9] = CHOICE(OPCODE_BY_FORM_REG, X87_D9),
                [0xda] = CHOICE(OPCODE_BY_FORM_REG, X87_DA),
                [0xdb] = CHOICE(OPCODE_BY_FORM_REG, X87_DB),
                [0xdc] = M,
                [0xdd] = CHOICE(OPCODE_BY_FORM_REG, X87_DD),
                [0xde] = M,
                [0xdf] = CHOICE(OPCODE_BY_FORM_REG, X87_DF),
                [0xe0 ... 0xe1] = IMPLICIT_X(CX) | FLAGS_R(TR_ZF) | KIND(TR_LOOP) | RELATIVE_8 |
                                  ACTION(OPCODE_COUNTER),
                [0xe2] = IMPLICIT_X(CX) | KIND(TR_LOOP) | RELATIVE_8 | ACTION(OPCODE_COUNTER),
                [0xe3] = IMPLICIT_R(CX) | KIND(TR_LOOP) | RELATIVE_8 | ACTION(OPCODE_COUNTER),
                [0xe4] = IMPLICIT_X(AX) | IMM_8,
                [0xe5] = IMPLICIT_W(AX) | IMM_8,
                [0xe6 ... 0xe7] = IMPLICIT_R(AX) | IMM_8,
                [0xe8] = STACK | KIND(TR_CALL) | RELATIVE_32,
                [0xe9] = KIND(TR_JUMP) | RELATIVE_32,
                [0xeb] = KIND(TR_JUMP) | RELATIVE_8,
                [0xec] = IMPLICIT_X(AX) | IMPLICIT_R(DX),
                [0xed] = IMPLICIT_W(AX) | IMPLICIT_R(DX),
                [0xee ... 0xef] = IMPLICIT_R(AX | DX),
                [0xf0] = PREFIX(OPCODE_PREFIX_LOCK),
                [0xf1] = TRAP,
                [0xf2] = PREFIX(OPCODE_PREFIX_F2),
                [0xf3] = PREFIX(OPCODE_PREFIX_F3),
                [0xf4] = TRAP,
                [0xf5] = FLAGS_X(TR_CF),
                [0xf6] = CHOICE(OPCODE_BY_REG, UNARY_BYTE),
                [0xf7] = CHOICE(OPCODE_BY_REG, UNARY),
                [0xf8 ... 0xf9] = FLAGS_W(TR_CF),
                [0xfa ... 0xfb] = TRAP,
                [0xfc ... 0xfd] = PLAIN,
                [0xfe] = CHOICE(OPCODE_BY_REG, COUNT_BYTE),
                [0xff] = CHOICE(OPCODE_BY_FORM_REG, GROUP_5),
            },
        [OPCODES_0F] =
            {
                [0x00] = CHOICE(OPCODE_BY_REG, GROUP_6),
                [0x01] = CHOICE(OPCODE_BY_FORM_REG, GROUP_7),
                [0x02 ... 0x03] = REG_X | RM_R | FLAGS_W(TR_ZF), /* LAR, LSL */
                [0x05] = KIND(TR_SYSTEM_CALL) | IMPLICIT_W(CX) | WHOLE | FLAGS_R(TR_ALL_FLAGS) |
                         ACTION(OPCODE_SYSTEM_CALL),
                [0x06 ... 0x09] = TRAP, /* CLTS, SYSRET, INVD, WBINVD */
                [0x0b] = TRAP,          /* UD2 */
                [0x0d] = M,             /* PREFETCHW */
                [0x0e] = PLAIN,         /* FEMMS */
                [0x0f] = VECTOR_IMM,    /* 3DNow!: the opcode follows the operands */
                [0x10] = M,
                [0x11] = STORES,
                [0x12] = M,
                [0x13] = STORES,
                [0x14 ... 0x16] = M,
                [0x17] = STORES,
                [0x18] = M, /* PREFETCH */
                [0x19] = ADDRESS,
                [0x1a] = CHOICE(OPCODE_BY_PREFIX, BOUND_LOAD),
                [0x1b] = CHOICE(OPCODE_BY_PREFIX, BOUND_STORE),
                [0x1c ... 0x1d] = ADDRESS,
                [0x1e] = CHOICE(OPCODE_BY_PREFIX, HINT),
                [0x1f] = ADDRESS,
                [0x20 ... 0x23] = REGISTERS | TRAP, /* MOV with control and debug registers */
                [0x28] = M,
                [0x29] = STORES,
                [0x2a] = CHOICE(OPCODE_BY_PREFIX, CONVERT_FROM),
                [0x2b] = STORES,
                [0x2c ... 0x2d] = CHOICE(OPCODE_BY_PREFIX, CONVERT_TO),
                [0x2e ... 0x2f] = M | ALL_W, /* UCOMISS, COMISS */
                [0x30] = TRAP,
                [0x31] = IMPLICIT_W(AX | DX) | WHOLE | ACTION(OPCODE_TIME_STAMP),
                [0x32] = TRAP,
                [0x33] = IMPLICIT_R(CX) | IMPLICIT_W(AX | DX) | WHOLE, /* RDPMC */
                [0x34] = KIND(TR_INT80) | FLAGS_R(TR_ALL_FLAGS),
                [0x35] = TRAP,
                [0x37] = TRAP, /* GETSEC */
                CONDITIONS(0x40, REG_X | RM_R),
                [0x50] = REG_W | WHOLE, /* MOVMSKPS */
                [0x51 ... 0x6d] = M,
                [0x6e] = RM_R,
                [0x6f] = M,
                [0x70 ... 0x73] = VECTOR_IMM,
                [0x74 ... 0x76] = M,
                [0x77] = PLAIN, /* EMMS */
                [0x78] = CHOICE(OPCODE_BY_PREFIX, EXTRACT_IMM),
                [0x79] = CHOICE(OPCODE_BY_PREFIX, EXTRACT_REG),
                [0x7c ... 0x7d] = M,
                [0x7e] = CHOICE(OPCODE_BY_PREFIX, MOVE_FROM_VECTOR),
                [0x7f] = STORES,
                CONDITIONS(0x80, KIND(TR_CONDITIONAL) | RELATIVE_32),
                CONDITIONS(0x90, RM_X | BYTE_RM), /* SETcc */
                [0xa0] = STACK,
                [0xa1] = STACK,
                [0xa2] = IMPLICIT_X(AX | CX) | IMPLICIT_W(BX | DX) | WHOLE, /* CPUID */
                [0xa3] = RM_R | REG_R | BIT,
                [0xa4] = RM_X | REG_R | IMM_8 | SHIFTED | ACTION(OPCODE_DOUBLE_SHIFT),
                [0xa5] = RM_X | REG_R | IMPLICIT_R(CX),
                [0xa6 ... 0xa7] =
                    STORES | IMPLICIT_X(AX | BX | CX | DX | SI | DI) | STRING_ES, /* VIA PadLock */
                [0xa8] = STACK,
                [0xa9] = STACK | GS_BASE,
                [0xaa] = TRAP,
                [0xab] = RM_X | REG_R | BIT,
                [0xac] = RM_X | REG_R | IMM_8 | SHIFTED | ACTION(OPCODE_DOUBLE_SHIFT),
                [0xad] = RM_X | REG_R | IMPLICIT_R(CX),
                [0xae] = CHOICE(OPCODE_BY_FORM_REG, GROUP_15),
                [0xaf] = REG_X | RM_R | MULTIPLY,
                [0xb0] = RM_X | REG_R | BYTES | IMPLICIT_X(AX) | ALL_W, /* CMPXCHG */
                [0xb1] = RM_X | REG_R | IMPLICIT_X(AX) | ALL_W,
                [0xb2] = REG_W,
                [0xb3] = RM_X | REG_R | BIT,
                [0xb4] = REG_W,
                [0xb5] = REG_W | GS_BASE,
                [0xb6] = REG_W | RM_R | BYTE_RM,
                [0xb7] = REG_W | RM_R,
                [0xb8] = CHOICE(OPCODE_BY_PREFIX, POPULATION),
                [0xb9] = M | TRAP, /* UD1 */
                [0xba] = CHOICE(OPCODE_BY_REG, GROUP_8),
                [0xbb] = RM_X | REG_R | BIT,
                /* BSF, BSR: nothing is written if the source is 0. TZCNT, LZCNT: the same on a
                 * processor that has not got them. */
                [0xbc ... 0xbd] = REG_X | RM_R | FLAGS_W(TR_ZF),
                [0xbe] = REG_W | RM_R | BYTE_RM,
                [0xbf] = REG_W | RM_R,
                [0xc0] = RM_X | REG_X | BYTES | ALL_W, /* XADD */
                [0xc1] = RM_X | REG_X | ALL_W,
                [0xc2] = VECTOR_IMM,
                [0xc3] = RM_W | REG_R, /* MOVNTI */
                [0xc4] = RM_R | IMM_8,
                [0xc5] = REG_W | IMM_8 | WHOLE,
                [0xc6] = VECTOR_IMM,
                [0xc7] = CHOICE(OPCODE_BY_FORM_REG, GROUP_9),
                [0xc8 ... 0xcf] = LOW_X, /* BSWAP */
                [0xd0 ... 0xd5] = M,
                [0xd6] = CHOICE(OPCODE_BY_PREFIX, MOVE_QUAD),
                [0xd7] = REG_W | WHOLE,
                [0xd8 ... 0xe6] = M,
                [0xe7] = STORES,
                [0xe8 ... 0xf6] = M,
                [0xf7] = STORES | IMPLICIT_R(DI) | ACTION(OPCODE_IMPLICIT_MEMORY), /* MASKMOVQ */
                [0xf8 ... 0xfe] = M,
                [0xff] = M | TRAP, /* UD0 */
            },
        [OPCODES_0F38] =
            {
                [0x00 ... 0x0b] = M,
                [0x0c ... 0x0f] = UNKNOWN,
                [0x10] = M,
                [0x11 ... 0x13] = UNKNOWN,
                [0x14 ... 0x15] = M,
                [0x16] = UNKNOWN,
                [0x17] = M | ALL_W, /* PTEST */
                [0x18 ... 0x1b] = UNKNOWN,
                [0x1c ... 0x1e] = M,
                [0x1f] = UNKNOWN,
                [0x20 ... 0x25] = M,
                [0x26 ... 0x27] = UNKNOWN,
                [0x28 ... 0x2b] = M,
                [0x2c ... 0x2f] = UNKNOWN,
                [0x30 ... 0x35] = M,
                [0x36] = UNKNOWN,
                [0x37 ... 0x41] = M,
                [0x42 ... 0x7f] = UNKNOWN,
                [0x80 ... 0x82] = M | TRAP, /* INVEPT, INVVPID, INVPCID */
                [0x83 ... 0xc7] = UNKNOWN,
                [0xc8 ... 0xcd] = M,
                [0xce] = UNKNOWN,
                [0xcf] = M,
                [0xd0 ... 0xd7] = UNKNOWN,
                [0xd8] = CHOICE(OPCODE_BY_PREFIX, KEY_LOCKER_WIDE),
                [0xd9 ... 0xda] = UNKNOWN,
                [0xdb] = M,
                [0xdc] = CHOICE(OPCODE_BY_PREFIX, KEY_LOCKER_LOAD),
                [0xdd ... 0xdf] = CHOICE(OPCODE_BY_PREFIX, KEY_LOCKER),
                [0xe0 ... 0xef] = UNKNOWN,
                [0xf0] = CHOICE(OPCODE_BY_PREFIX, MOVE_SWAPPED),
                [0xf1] = CHOICE(OPCODE_BY_PREFIX, STORE_SWAPPED),
                [0xf2 ... 0xf4] = UNKNOWN,
                [0xf5] = CHOICE(OPCODE_BY_PREFIX, SHADOW_USER),
                [0xf6] = CHOICE(OPCODE_BY_PREFIX, ADD_CARRY),
                [0xf7] = UNKNOWN,
                [0xf8] = CHOICE(OPCODE_BY_PREFIX, DIRECT_64),
                [0xf9] = REG_R | STORES, /* MOVDIRI */
                [0xfa ... 0xfb] = CHOICE(OPCODE_BY_PREFIX, ENCODE_KEY),
                [0xfc] = REG_R | STORES, /* AADD and others */
                [0xfd ... 0xff] = UNKNOWN,
            },
        [OPCODES_0F3A] =
            {
                [0x00 ... 0x07] = UNKNOWN | IMM_8,
                [0x08 ... 0x0f] = VECTOR_IMM,
                [0x10 ... 0x13] = UNKNOWN | IMM_8,
                [0x14 ... 0x17] = RM_W | WHOLE | IMM_8, /* PEXTRB to EXTRACTPS */
                [0x18 ... 0x1f] = UNKNOWN | IMM_8,
                [0x20] = RM_R | IMM_8,
                [0x21] = VECTOR_IMM,
                [0x22] = RM_R | IMM_8,
                [0x23 ... 0x3f] = UNKNOWN | IMM_8,
                [0x40 ... 0x44] = VECTOR_IMM,
                [0x45 ... 0x5f] = UNKNOWN | IMM_8,
                [0x60] = VECTOR_IMM | IMPLICIT_R(AX | DX) | ALL_W, /* PCMPESTRM */
                [0x61] = VECTOR_IMM | IMPLICIT_R(AX | DX) | IMPLICIT_W(CX) | ALL_W | WHOLE,
                [0x62] = VECTOR_IMM | ALL_W,
                [0x63] = VECTOR_IMM | IMPLICIT_W(CX) | ALL_W | WHOLE,
                [0x64 ... 0xcb] = UNKNOWN | IMM_8,
                [0xcc] = VECTOR_IMM,
                [0xcd] = UNKNOWN | IMM_8,
                [0xce ... 0xcf] = VECTOR_IMM,
                [0xd0 ... 0xde] = UNKNOWN | IMM_8,
                [0xdf] = VECTOR_IMM,
                [0xe0 ... 0xef] = UNKNOWN | IMM_8,
                [0xf0] = VECTOR_IMM | TRAP, /* HRESET */
                [0xf1 ... 0xff] = UNKNOWN | IMM_8,
            },
        [OPCODES_VEX + 1] =
            {
                [0x10] = M,
                [0x11] = STORES,
                [0x12] = M,
                [0x13] = STORES,
                [0x14 ... 0x16] = M,
                [0x17] = STORES,
                [0x28] = M,
                [0x29] = STORES,
                [0x2a] = CHOICE(OPCODE_BY_PREFIX, CONVERT_FROM),
                [0x2b] = STORES,
                [0x2c ... 0x2d] = CHOICE(OPCODE_BY_PREFIX, CONVERT_TO),
                [0x2e ... 0x2f] = M | ALL_W,
                [0x41 ... 0x4f] = M, /* masks */
                [0x50] = REG_W,
                [0x51 ... 0x6d] = M,
                [0x6e] = RM_R,
                [0x6f] = M,
                [0x70 ... 0x73] = VECTOR_IMM,
                [0x74 ... 0x76] = M,
                [0x77] = PLAIN, /* VZEROUPPER */
                [0x7c ... 0x7d] = M,
                [0x7e] = CHOICE(OPCODE_BY_PREFIX, MOVE_FROM_VECTOR),
                [0x7f] = STORES,
                [0x90] = M,
                [0x91] = STORES,
                [0x92] = RM_R, /* KMOV */
                [0x93] = REG_W,
                [0x98 ... 0x99] = M | ALL_W, /* KORTEST, KTEST */
                [0xae] = CHOICE(OPCODE_BY_REG, VEX_STATUS),
                [0xc2] = VECTOR_IMM,
                [0xc4] = RM_R | IMM_8,
                [0xc5] = REG_W | IMM_8,
                [0xc6] = VECTOR_IMM,
                [0xd0 ... 0xd5] = M,
                [0xd6] = STORES,
                [0xd7] = REG_W,
                [0xd8 ... 0xe6] = M,
                [0xe7] = STORES,
                [0xe8 ... 0xf6] = M,
                [0xf7] = STORES | IMPLICIT_R(DI) | ACTION(OPCODE_IMPLICIT_MEMORY),
                [0xf8 ... 0xfe] = M,
            },
        [OPCODES_VEX + 2] =
            {
                [0x00 ... 0x0d] = M,
                [0x0e ... 0x0f] = M | ALL_W, /* VTESTPS, VTESTPD */
                [0x10 ... 0x12] = UNKNOWN_VECTOR,
                [0x13] = M,
                [0x14 ... 0x15] = UNKNOWN_VECTOR,
                [0x16] = M,
                [0x17] = M | ALL_W,
                [0x18 ... 0x1a] = M,
                [0x1b] = UNKNOWN_VECTOR,
                [0x1c ... 0x1e] = M,
                [0x1f] = UNKNOWN_VECTOR,
                [0x20 ... 0x25] = M,
                [0x26 ... 0x27] = UNKNOWN_VECTOR,
                [0x28 ... 0x2d] = M,
                [0x2e ... 0x2f] = STORES,
                [0x30 ... 0x41] = M,
                [0x42 ... 0x44] = UNKNOWN_VECTOR,
                [0x45 ... 0x47] = M,
                [0x48] = UNKNOWN_VECTOR,
                [0x49] = CHOICE(OPCODE_BY_PREFIX, TILE_CONFIG),
                [0x4a] = UNKNOWN_VECTOR,
                [0x4b] = CHOICE(OPCODE_BY_PREFIX, TILE_LOAD),
                [0x4c ... 0x4f] = UNKNOWN_VECTOR,
                [0x50 ... 0x53] = M,
                [0x54 ... 0x57] = UNKNOWN_VECTOR,
                [0x58 ... 0x5a] = M,
                [0x5b] = UNKNOWN_VECTOR,
                [0x5c] = M,
                [0x5d] = UNKNOWN_VECTOR,
                [0x5e] = M,
                [0x5f ... 0x6b] = UNKNOWN_VECTOR,
                [0x6c] = M, /* TCMMIMFP16PS */
                [0x6d ... 0x71] = UNKNOWN_VECTOR,
                [0x72] = M, /* VCVTNEPS2BF16 */
                [0x73 ... 0x77] = UNKNOWN_VECTOR,
                [0x78 ... 0x79] = M,
                [0x7a ... 0x8b] = UNKNOWN_VECTOR,
                [0x8c] = M,
                [0x8d] = UNKNOWN_VECTOR,
                [0x8e] = STORES,
                [0x8f] = UNKNOWN_VECTOR,
                [0x90 ... 0x93] = VSIB,
                [0x94 ... 0x95] = UNKNOWN_VECTOR,
                [0x96 ... 0x9f] = M,
                [0xa0 ... 0xa5] = UNKNOWN_VECTOR,
                [0xa6 ... 0xaf] = M,
                [0xb0 ... 0xb1] = M, /* VCVTNEEPH2PS and others */
                [0xb2 ... 0xb3] = UNKNOWN_VECTOR,
                [0xb4 ... 0xbf] = M,
                [0xc0 ... 0xca] = UNKNOWN_VECTOR,
                [0xcb ... 0xcd] = M, /* VSHA512 */
                [0xce] = UNKNOWN_VECTOR,
                [0xcf] = M,
                [0xd0 ... 0xd1] = UNKNOWN_VECTOR,
                [0xd2 ... 0xd3] = M, /* VPDPWUUD and others */
                [0xd4 ... 0xd9] = UNKNOWN_VECTOR,
                [0xda ... 0xdf] = M,
                [0xe0 ... 0xef] = STORES | REG_X | VVVV_R | ALL_W, /* CMPccXADD */
                [0xf0 ... 0xf1] = UNKNOWN_VECTOR,
                [0xf2] = REG_W | VVVV_R | RM_R | LOWEST_BIT, /* ANDN */
                [0xf3] = CHOICE(OPCODE_BY_REG, LOWEST_SET),
                [0xf4] = UNKNOWN_VECTOR,
                [0xf5] = CHOICE(OPCODE_BY_PREFIX, BITS_HIGH),
                [0xf6] = CHOICE(OPCODE_BY_PREFIX, MULTIPLY_X),
                [0xf7] = CHOICE(OPCODE_BY_PREFIX, SHIFT_X),
                [0xf8 ... 0xff] = UNKNOWN_VECTOR,
            },
        [OPCODES_VEX + 3] =
            {
                [0x00 ... 0x06] = VECTOR_IMM,
                [0x07] = UNKNOWN_VECTOR | IMM_8,
                [0x08 ... 0x0f] = VECTOR_IMM,
                [0x10 ... 0x13] = UNKNOWN_VECTOR | IMM_8,
                [0x14 ... 0x17] = RM_W | IMM_8,
                [0x18] = VECTOR_IMM,
                [0x19] = STORES | IMM_8,
                [0x1a ... 0x1c] = UNKNOWN_VECTOR | IMM_8,
                [0x1d] = STORES | IMM_8,
                [0x1e ... 0x1f] = UNKNOWN_VECTOR | IMM_8,
                [0x20] = RM_R | IMM_8,
                [0x21] = VECTOR_IMM,
                [0x22] = RM_R | IMM_8,
                [0x23 ... 0x2f] = UNKNOWN_VECTOR | IMM_8,
                [0x30 ... 0x33] = VECTOR_IMM,
                [0x34 ... 0x37] = UNKNOWN_VECTOR | IMM_8,
                [0x38] = VECTOR_IMM,
                [0x39] = STORES | IMM_8,
                [0x3a ... 0x3f] = UNKNOWN_VECTOR | IMM_8,
                [0x40 ... 0x4c] = VECTOR_IMM,
                [0x4d ... 0x5b] = UNKNOWN_VECTOR | IMM_8,
                [0x5c ... 0x5f] = VECTOR_IMM,
                [0x60] = VECTOR_IMM | IMPLICIT_R(AX | DX) | ALL_W,
                [0x61] = VECTOR_IMM | IMPLICIT_R(AX | DX) | IMPLICIT_W(CX) | ALL_W,
                [0x62] = VECTOR_IMM | ALL_W,
                [0x63] = VECTOR_IMM | IMPLICIT_W(CX) | ALL_W,
                [0x64 ... 0x67] = UNKNOWN_VECTOR | IMM_8,
                [0x68 ... 0x6f] = VECTOR_IMM,
                [0x70 ... 0x77] = UNKNOWN_VECTOR | IMM_8,
                [0x78 ... 0x7f] = VECTOR_IMM,
                [0x80 ... 0xcd] = UNKNOWN_VECTOR | IMM_8,
                [0xce ... 0xcf] = VECTOR_IMM,
                [0xd0 ... 0xdd] = UNKNOWN_VECTOR | IMM_8,
                [0xde ... 0xdf] = VECTOR_IMM,
                [0xe0 ... 0xef] = UNKNOWN_VECTOR | IMM_8,
                [0xf0] = REG_W | RM_R | IMM_8, /* RORX */
                [0xf1 ... 0xff] = UNKNOWN_VECTOR | IMM_8,
            },
        [OPCODES_VEX + 5] =
            {
                [0x00 ... 0xff] = UNKNOWN_VECTOR,
            },
        [OPCODES_VEX + 7] =
            {
                [0xf6] = M | IMM_32 | TRAP, /* WRMSRNS */
                [0xf8] = RM_X | IMM_32,     /* URDMSR, UWRMSR */
            },
        [OPCODES_XOP] =
            {
                [0x80 ... 0xff] = VECTOR_IMM,
            },
        [OPCODES_XOP + 1] =
            {
                [0x01] = CHOICE(OPCODE_BY_REG, TBM_1),
                [0x02] = CHOICE(OPCODE_BY_REG, TBM_2),
                [0x12] = CHOICE(OPCODE_BY_REG, PROFILE),
                [0x80 ... 0xff] = M,
            },
        [OPCODES_XOP + 2] =
            {
                [0x10] = REG_W | RM_R | IMM_32 | BIT_FIELD, /* BEXTR */
                [0x12] = CHOICE(OPCODE_BY_REG, PROFILE_INSERT),
            },
        [OPCODES_EVEX + 1] =
            {
                [0x10] = M,
                [0x11] = STORES,
                [0x12] = M,
                [0x13] = STORES,
                [0x14 ... 0x16] = M,
                [0x17] = STORES,
                [0x28] = M,
                [0x29] = STORES,
                [0x2a] = CHOICE(OPCODE_BY_PREFIX, CONVERT_FROM),
                [0x2b] = STORES,
                [0x2c ... 0x2d] = CHOICE(OPCODE_BY_PREFIX, CONVERT_TO),
                [0x2e ... 0x2f] = M | ALL_W,
                [0x51 ... 0x6d] = M,
                [0x6e] = RM_R,
                [0x6f] = M,
                [0x70 ... 0x73] = VECTOR_IMM,
                [0x74 ... 0x76] = M,
                [0x78 ... 0x79] = CHOICE(OPCODE_BY_PREFIX, CONVERT_UNSIGNED),
                [0x7a] = M,
                [0x7b] = CHOICE(OPCODE_BY_PREFIX, CONVERT_FROM_UNSIGNED),
                [0x7e] = CHOICE(OPCODE_BY_PREFIX, MOVE_FROM_VECTOR),
                [0x7f] = STORES,
                [0xc2] = VECTOR_IMM,
                [0xc4] = RM_R | IMM_8,
                [0xc5] = REG_W | IMM_8,
                [0xc6] = VECTOR_IMM,
                [0xd0 ... 0xd5] = M,
                [0xd6] = STORES,
                [0xd8 ... 0xe6] = M,
                [0xe7] = STORES,
                [0xe8 ... 0xef] = M,
                [0xf1 ... 0xf6] = M,
                [0xf8 ... 0xfe] = M,
            },
        [OPCODES_EVEX + 2] =
            {
                [0x00 ... 0x0f] = M,
                [0x10 ... 0x15] = CHOICE(OPCODE_BY_PREFIX, NARROW),
                [0x16 ... 0x1f] = M,
                [0x20 ... 0x25] = CHOICE(OPCODE_BY_PREFIX, NARROW),
                [0x26 ... 0x2f] = M,
                [0x30 ... 0x35] = CHOICE(OPCODE_BY_PREFIX, NARROW),
                [0x36 ... 0x62] = M,
                [0x63] = STORES, /* VPCOMPRESSB */
                [0x64 ... 0x79] = M,
                [0x7a ... 0x7c] = RM_R, /* VPBROADCASTB from a general register */
                [0x7d ... 0x89] = M,
                [0x8a ... 0x8b] = STORES,
                [0x8c ... 0x8f] = M,
                [0x90 ... 0x93] = VSIB,
                [0x94 ... 0x9f] = M,
                [0xa0 ... 0xa3] = VSIB | STORES,
                [0xa4 ... 0xc5] = M,
                [0xc6 ... 0xc7] = VSIB,
                [0xc8 ... 0xdf] = M,
            },
        [OPCODES_EVEX + 3] =
            {
                [0x00 ... 0x13] = VECTOR_IMM,
                [0x14 ... 0x17] = RM_W | IMM_8,
                [0x18] = VECTOR_IMM,
                [0x19] = STORES | IMM_8,
                [0x1a] = VECTOR_IMM,
                [0x1b] = STORES | IMM_8,
                [0x1c] = VECTOR_IMM,
                [0x1d] = STORES | IMM_8,
                [0x1e ... 0x1f] = VECTOR_IMM,
                [0x20] = RM_R | IMM_8,
                [0x21] = VECTOR_IMM,
                [0x22] = RM_R | IMM_8,
                [0x23 ... 0x38] = VECTOR_IMM,
                [0x39] = STORES | IMM_8,
                [0x3a] = VECTOR_IMM,
                [0x3b] = STORES | IMM_8,
                [0x3c ... 0xef] = VECTOR_IMM,
            },
        [OPCODES_EVEX + 5] =
            {
                [0x00 ... 0x10] = M,
                [0x11] = STORES,
                [0x12 ... 0x29] = M,
                [0x2a] = CHOICE(OPCODE_BY_PREFIX, CONVERT_FROM),
                [0x2b] = M,
                [0x2c ... 0x2d] = CHOICE(OPCODE_BY_PREFIX, CONVERT_TO),
                [0x2e ... 0x2f] = M | ALL_W,
                [0x30 ... 0x6b] = M,
                [0x6c ... 0x6d] = CHOICE(OPCODE_BY_PREFIX, CONVERT_UNSIGNED), /* VCVTTSS2USIS */
                [0x6e] = RM_R,
                [0x6f ... 0x77] = M,
                [0x78 ... 0x79] = CHOICE(OPCODE_BY_PREFIX, CONVERT_UNSIGNED),
                [0x7a] = M,
                [0x7b] = CHOICE(OPCODE_BY_PREFIX, CONVERT_FROM_UNSIGNED),
                [0x7c ... 0x7d] = M,
                [0x7e] = CHOICE(OPCODE_BY_PREFIX, MOVE_FROM_VECTOR),
                [0x7f ... 0xff] = M,
            },
        [OPCODES_EVEX + 6] =
            {
                [0x00 ... 0xff] = M,
            },
};
