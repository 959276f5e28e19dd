#include "x86/usual_instruction.h"

#include <string.h>

/* What follows an opcode. A capital letter means the same as its small letter with an immediate. */
enum form {
    UNUSUAL = '.',
    ALONE = '-',
    BYTE = 'b',            /* an immediate of 8 bits */
    WORD = 'w',            /* of the operand's size, at most 32 bits */
    WIDE = 'q',            /* of the operand's size */
    OPERAND = 'm',         /* a ModRM byte and what belongs to it */
    OPERAND_BYTE = 'M',    /* and an immediate of 8 bits */
    OPERAND_WORD = 'W',    /* and one of the operand's size, at most 32 bits */
    MEMORY = 'a',          /* as OPERAND, but no register */
    MOVE_BYTE = 'i',       /* C6 */
    MOVE_WORD = 'I',       /* C7 */
    UNARY_BYTE = 'u',      /* F6 */
    UNARY_WORD = 'U',      /* F7 */
    COUNT = 'n',           /* FE */
    COUNT_OR_BRANCH = 'f', /* FF */
    /* Branches, by distance. */
    CONDITIONAL_NEAR = 'j',
    CONDITIONAL = 'J',
    JUMP_NEAR = 'g',
    JUMP = 'G',
    CALL = 'C',
    RETURN = 'r',
};

/* By opcode: one byte, and two bytes of which the first is 0f. */
static const char one_byte[] = "mmmmbw..mmmmbw.."  /* 00 add, or */
                               "mmmmbw..mmmmbw.."  /* 10 adc, sbb */
                               "mmmmbw..mmmmbw.."  /* 20 and, sub */
                               "mmmmbw..mmmmbw.."  /* 30 xor, cmp */
                               "................"  /* 40 REX */
                               "----------------"  /* 50 push, pop */
                               "...m....wWbM...."  /* 60 movsxd, push, imul */
                               "jjjjjjjjjjjjjjjj"  /* 70 jcc */
                               "MW.Mmmmmmmmm.a.."  /* 80 test, xchg, mov, lea */
                               "----------......"  /* 90 xchg, cbw, cwd */
                               "....----bw------"  /* a0 strings, test */
                               "bbbbbbbbqqqqqqqq"  /* b0 mov */
                               "MM.r..iI.-......"  /* c0 shifts, ret, mov, leave */
                               "mmmm............"  /* d0 shifts */
                               "jjjj....CG.g...."  /* e0 loop, call, jmp */
                               "......uU......nf"; /* f0 test, not, neg, mul, div, inc, dec */

static const char two_bytes[] = "................"  /* 00 */
                                "mm..mm.........m"  /* 10 moves, nop */
                                "........mmm.mmmm"  /* 20 moves, conversions, compares */
                                "................"  /* 30 */
                                "mmmmmmmmmmmmmmmm"  /* 40 cmov */
                                ".m..mmmmmmmmmmmm"  /* 50 floating point */
                                "mmmmmmmmmmmm..mm"  /* 60 integer vectors */
                                "M...mmm.......mm"  /* 70 shuffles, compares, moves */
                                "JJJJJJJJJJJJJJJJ"  /* 80 jcc */
                                "mmmmmmmmmmmmmmmm"  /* 90 setcc */
                                "...mMm.....mMm.m"  /* a0 bt, shld, bts, shrd, imul */
                                "mm.m..mm...mmmmm"  /* b0 cmpxchg, movzx, bsf, movsx */
                                "mmM...M.--------"  /* c0 xadd, compares, shuffles, bswap */
                                ".mmmmm..mmmmmmmm"  /* d0 integer vectors */
                                "mmmmmm..mmmmmmmm"  /* e0 */
                                ".mmmmmm.mmmmmmm."; /* f0 */

enum { OPERAND_SIZE = 0x66, TWO_BYTES = 0x0f, REX = 0x40, REX_MASK = 0xf0, REX_WIDE = 0x08 };

/* The position, and what the prefixes say. */
struct reading {
    const uint8_t *at; /* the byte after the opcode */
    bool narrow;       /* operands of 16 bits */
    bool wide;         /* of 64 bits */
};

static unsigned field(uint8_t modrm)
{
    return modrm >> 3 & 7;
}

/* Bytes of the ModRM byte at `at` and what belongs to it. */
static unsigned operand_size(const uint8_t *at)
{
    enum { REGISTER = 3, HAS_SIB = 4, NO_BASE = 5 };
    unsigned mode = at[0] >> 6, base = at[0] & 7;
    if (mode == REGISTER)
        return 1;
    unsigned sib = base == HAS_SIB;
    if (sib)
        base = at[1] & 7;
    static const uint8_t displacements[] = {0, 1, 4};
    return 1 + sib + (mode == 0 && base == NO_BASE ? 4 : displacements[mode]);
}

static unsigned word_size(const struct reading *reading)
{
    return reading->narrow && !reading->wide ? 2 : 4;
}

static unsigned wide_size(const struct reading *reading)
{
    return reading->wide ? 8 : word_size(reading);
}

/* What follows the opcode of an instruction that is no branch, in bytes; 0: leave it to Zydis. */
static unsigned operands_size(const struct reading *reading, enum form form)
{
    unsigned operand = operand_size(reading->at), which = field(reading->at[0]);
    switch (form) {
    case BYTE:
        return 1;
    case WORD:
        return word_size(reading);
    case WIDE:
        return wide_size(reading);
    case OPERAND:
        return operand;
    case OPERAND_BYTE:
        return operand + 1;
    case OPERAND_WORD:
        return operand + word_size(reading);
    case MEMORY:
        return reading->at[0] >> 6 == 3 ? 0 : operand;
    case MOVE_BYTE:
        return which ? 0 : operand + 1;
    case MOVE_WORD:
        return which ? 0 : operand + word_size(reading);
    case UNARY_BYTE: /* test has an immediate; compilers use only the first of its two numbers */
        return which > 1 ? operand : which ? 0 : operand + 1;
    case UNARY_WORD:
        return which > 1 ? operand : which ? 0 : operand + word_size(reading);
    case COUNT:
    case COUNT_OR_BRANCH:
        return which > 1 ? 0 : operand;
    default:
        return 0;
    }
}

static int64_t near_distance(const uint8_t *at)
{
    return (int8_t)*at;
}

static int64_t distance(const uint8_t *at)
{
    int32_t value;
    memcpy(&value, at, sizeof(value));
    return value;
}

static bool is_whole(struct x86_instruction *instruction, const uint8_t *bytes,
                     const struct reading *reading, enum x86_flow flow, size_t size)
{
    *instruction =
        (struct x86_instruction){.flow = flow, .length = (unsigned)(reading->at + size - bytes)};
    return true;
}

static bool branch(struct x86_instruction *instruction, const uint8_t *bytes, uint64_t pc,
                   const struct reading *reading, enum x86_flow flow, bool near)
{
    if (reading->narrow)
        return false;
    is_whole(instruction, bytes, reading, flow, near ? 1 : 4);
    instruction->target = pc + instruction->length +
                          (uint64_t)(near ? near_distance(reading->at) : distance(reading->at));
    return true;
}

static bool indirect(struct x86_instruction *instruction, const uint8_t *bytes,
                     const struct reading *reading)
{
    enum { NEAR_CALL = 2, NEAR_JUMP = 4, PUSH = 6 };
    unsigned which = field(reading->at[0]), operand = operand_size(reading->at);
    if (reading->narrow || (which != NEAR_CALL && which != NEAR_JUMP && which != PUSH))
        return false;
    enum x86_flow flow = which == NEAR_CALL   ? X86_INDIRECT_CALL
                         : which == NEAR_JUMP ? X86_INDIRECT_JUMP
                                              : X86_SEQUENTIAL;
    return is_whole(instruction, bytes, reading, flow, operand);
}

/* Reads the prefixes and the opcode. */
static enum form read_opcode(struct reading *reading)
{
    if (*reading->at == OPERAND_SIZE) {
        reading->narrow = true;
        reading->at++;
    }
    if ((*reading->at & REX_MASK) == REX)
        reading->wide = *reading->at++ & REX_WIDE;
    if (*reading->at != TWO_BYTES)
        return (enum form)one_byte[*reading->at++];
    reading->at += 2;
    return (enum form)two_bytes[reading->at[-1]];
}

bool x86_decode_usual(struct x86_instruction *instruction, const uint8_t *bytes, uint64_t pc)
{
    static const uint8_t endbr64[] = {0xf3, 0x0f, 0x1e, 0xfa};
    struct reading reading = {.at = bytes};
    enum form form = read_opcode(&reading);
    unsigned size;
    switch (form) {
    case UNUSUAL:
        if (memcmp(bytes, endbr64, sizeof(endbr64)) != 0)
            return false;
        reading.at = bytes;
        return is_whole(instruction, bytes, &reading, X86_SEQUENTIAL, sizeof(endbr64));
    case ALONE:
        return is_whole(instruction, bytes, &reading, X86_SEQUENTIAL, 0);
    case CONDITIONAL_NEAR:
    case CONDITIONAL:
        return branch(instruction, bytes, pc, &reading, X86_CONDITIONAL, form == CONDITIONAL_NEAR);
    case JUMP_NEAR:
    case JUMP:
        return branch(instruction, bytes, pc, &reading, X86_JUMP, form == JUMP_NEAR);
    case CALL:
        return branch(instruction, bytes, pc, &reading, X86_CALL, false);
    case RETURN:
        return !reading.narrow && is_whole(instruction, bytes, &reading, X86_RETURN, 0);
    case COUNT_OR_BRANCH:
        if (field(reading.at[0]) > 1)
            return indirect(instruction, bytes, &reading);
        break;
    default:
        break;
    }
    size = operands_size(&reading, form);
    return size && is_whole(instruction, bytes, &reading, X86_SEQUENTIAL, size);
}
