#include "runtime/translator/code/decode.h"

#include "runtime/translator/code/opcodes.h"

enum {
    LONGEST = 15, /* bytes of an instruction */
    /* bytes after the legacy prefixes that may be read before the length is known: REX and an opcode of three bytes,
     * or EVEX and an opcode, ModRM, SIB. */
    LOOKED_AT = 7,

    STACK_POINTER = 4,
};

/* The bits of REX, as they are in its low half. */
enum { REX_B = 1, REX_X = 2, REX_R = 4, REX_W = 8 };

/* What the prefixes, escapes and opcode mean for the instruction. */
struct encoding {
    const uint8_t *bytes;
    uint64_t word;     /* the opcode's */
    unsigned at;       /* offset of what follows the opcode */
    unsigned prefixes; /* OPCODE_PREFIX_66 and so on */
    unsigned prefix_size;
    unsigned extension;   /* REX_B and so on, wherever they were encoded */
    unsigned simd_prefix; /* 0 none, 1 66, 2 F3, 3 F2 */
    unsigned vvvv;
    uint8_t rex, map, opcode;
    bool is_vector;
};

static uint32_t read_32(const uint8_t *bytes)
{
    return (uint32_t)bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 |
           (uint32_t)bytes[3] << 24;
}

/* ---- prefixes and escapes ---- */

/* Reads the prefixes from the beginning; `at` is the next byte. Of F2 and F3, and of FS and GS, the
 * last counts. REX counts only if it is the last of all. */
static void read_prefixes(struct encoding *encoding)
{
    static const unsigned repeats = OPCODE_PREFIX_F2 | OPCODE_PREFIX_F3;
    static const unsigned segments = OPCODE_PREFIX_FS | OPCODE_PREFIX_GS;
    encoding->rex = 0;
    encoding->at = 0;
    for (; encoding->at < LONGEST; encoding->at++) {
        uint64_t word = tr_opcodes[OPCODES_ONE_BYTE][encoding->bytes[encoding->at]];
        unsigned prefix = word & OPCODE_ESCAPE ? word & OPCODE_PREFIXES : 0;
        if (!prefix)
            break;
        encoding->rex = prefix == OPCODE_PREFIX_REX ? encoding->bytes[encoding->at] : 0;
        if (prefix & repeats)
            encoding->prefixes &= ~repeats;
        if (prefix & segments)
            encoding->prefixes &= ~segments;
        encoding->prefixes |= prefix;
    }
    encoding->prefix_size = encoding->at - (encoding->rex != 0);
    if (encoding->prefixes & OPCODE_PREFIX_F3)
        encoding->simd_prefix = 2;
    else if (encoding->prefixes & OPCODE_PREFIX_F2)
        encoding->simd_prefix = 3;
    else
        encoding->simd_prefix = (encoding->prefixes & OPCODE_PREFIX_66) != 0;
}

static void read_two_byte_opcode(struct encoding *encoding)
{
    enum { ESCAPE_38 = 0x38, ESCAPE_3A = 0x3a };
    encoding->map = 1;
    encoding->opcode = encoding->bytes[encoding->at++];
    if (encoding->opcode == ESCAPE_38 || encoding->opcode == ESCAPE_3A) {
        encoding->map = encoding->opcode == ESCAPE_38 ? 2 : 3;
        encoding->opcode = encoding->bytes[encoding->at++];
    }
    encoding->word = tr_opcodes[OPCODES_ONE_BYTE + encoding->map][encoding->opcode];
}

/* VEX, EVEX and XOP take the place of these prefixes. */
static bool may_be_vector(const struct encoding *encoding)
{
    return !encoding->rex && !(encoding->prefixes & (OPCODE_PREFIX_66 | OPCODE_PREFIX_F2 |
                                                     OPCODE_PREFIX_F3 | OPCODE_PREFIX_LOCK));
}

/* From the two bytes, and the opcode, that VEX of three bytes, XOP and EVEX have in common. */
static void read_vector_fields(struct encoding *encoding, unsigned first, unsigned second,
                               uint8_t opcode)
{
    encoding->extension = (~first >> 5 & (REX_R | REX_X | REX_B)) | (second >> 4 & REX_W);
    encoding->vvvv = ~second >> 3 & 15;
    encoding->simd_prefix = second & 3;
    encoding->is_vector = true;
    encoding->opcode = opcode;
}

/* VEX of two bytes lacks a byte: X, B and W are 0, the map is 0F. */
static void read_vex_2(struct encoding *encoding)
{
    enum { NO_X_AND_B = 0x60, W = 0x80 };
    const uint8_t *at = encoding->bytes + encoding->at;
    read_vector_fields(encoding, at[0] | NO_X_AND_B, at[0] & ~(unsigned)W, at[1]);
    encoding->at += 2;
    encoding->map = 1;
    encoding->word = tr_opcodes[OPCODES_VEX + 1][encoding->opcode];
}

static void read_vex_3(struct encoding *encoding)
{
    enum { MAP = 31, MAPS = 8 };
    const uint8_t *at = encoding->bytes + encoding->at;
    read_vector_fields(encoding, at[0], at[1], at[2]);
    encoding->at += 3;
    encoding->map = at[0] & MAP;
    encoding->word =
        encoding->map < MAPS ? tr_opcodes[OPCODES_VEX + encoding->map][encoding->opcode] : 0;
}

static void read_xop(struct encoding *encoding)
{
    enum { MAP = 31, MAPS = 3 };
    const uint8_t *at = encoding->bytes + encoding->at;
    read_vector_fields(encoding, at[0], at[1], at[2]);
    encoding->at += 3;
    encoding->map = at[0] & MAP;
    unsigned table = encoding->map - OPCODE_FIRST_XOP_MAP;
    encoding->word = table < MAPS ? tr_opcodes[OPCODES_XOP + table][encoding->opcode] : 0;
}

/* The bits that EVEX keeps at 0 and at 1 mean registers R16 to R31 (APX), which are out of scope,
 * or a Xeon Phi of the first generation. */
static void read_evex(struct encoding *encoding)
{
    enum { MAP = 7, ALWAYS_0 = 8, ALWAYS_1 = 4 };
    const uint8_t *at = encoding->bytes + encoding->at;
    read_vector_fields(encoding, at[0], at[1], at[3]);
    encoding->at += 4;
    encoding->map = at[0] & MAP;
    bool is_evex = !(at[0] & ALWAYS_0) && (at[1] & ALWAYS_1);
    encoding->word = is_evex ? tr_opcodes[OPCODES_EVEX + encoding->map][encoding->opcode] : 0;
}

static void read_escaped_opcode(struct encoding *encoding)
{
    uint64_t escape = encoding->word;
    if (escape & OPCODE_TWO_BYTES)
        read_two_byte_opcode(encoding);
    else if ((escape & OPCODE_POP_OR_XOP) &&
             (encoding->bytes[encoding->at] & 31) < OPCODE_FIRST_XOP_MAP)
        return; /* POP, whose word is a choice as well */
    else if (!may_be_vector(encoding))
        encoding->word = 0;
    else if (escape & OPCODE_VEX2)
        read_vex_2(encoding);
    else if (escape & OPCODE_VEX3)
        read_vex_3(encoding);
    else if (escape & OPCODE_EVEX)
        read_evex(encoding);
    else
        read_xop(encoding);
}

/* A copy of the code's last bytes, padded with zeros. */
static const uint8_t *with_zeros(uint8_t copy[LONGEST + LOOKED_AT], const uint8_t *bytes,
                                 size_t size)
{
    for (size_t i = 0; i < LONGEST + LOOKED_AT; i++)
        copy[i] = i < size ? bytes[i] : 0;
    return copy;
}

/* The encoding whose first byte, after REX, turned out to be a prefix or an escape; `copy` is room for one of the code.
 * By value: what no pointer refers to stays in registers. */
static struct encoding escaped(struct encoding encoding, size_t size,
                               uint8_t copy[LONGEST + LOOKED_AT])
{
    if (encoding.word & OPCODE_PREFIXES) {
        read_prefixes(&encoding);
        if (encoding.prefix_size + LOOKED_AT > LONGEST)
            encoding.bytes = with_zeros(copy, encoding.bytes, size);
        encoding.extension = encoding.rex & 15;
        encoding.opcode = encoding.bytes[encoding.at++];
        encoding.word = encoding.at <= LONGEST ? tr_opcodes[OPCODES_ONE_BYTE][encoding.opcode] : 0;
    }
    if (encoding.word & OPCODE_ESCAPE)
        read_escaped_opcode(&encoding);
    return encoding;
}

/* ---- choices ---- */

static uint64_t chosen(uint64_t word, const struct encoding *encoding, unsigned modrm)
{
    do {
        unsigned row = word & OPCODE_ROW, column = modrm >> 3 & 7;
        bool is_register = modrm >= 0xc0;
        switch ((enum opcode_selector)(word >> OPCODE_SELECTOR_AT & 15)) {
        case OPCODE_BY_REG:
            break;
        case OPCODE_BY_FORM_REG:
            row += is_register;
            break;
        case OPCODE_BY_FORM:
            column = is_register;
            break;
        case OPCODE_BY_RM:
            column = modrm & 7;
            break;
        case OPCODE_BY_PREFIX:
            column = encoding->simd_prefix;
            break;
        case OPCODE_BY_REX_B:
            column = encoding->extension & REX_B;
            break;
        case OPCODE_BY_REX_W:
            column = (encoding->extension & REX_W) != 0;
            break;
        }
        word = tr_opcode_choices[row][column];
    } while (word & OPCODE_CHOICE);
    return word;
}

/* ---- operands ---- */

/* What a ModRM byte is followed by, and what it is itself: the low bits are TR_HAS_MODRM,
 * TR_RIP_RELATIVE and TR_MEMORY. */
enum {
    SHAPE_PROPERTIES = TR_HAS_MODRM | TR_RIP_RELATIVE | TR_MEMORY,
    SHAPE_HAS_SIB = 1 << 3,
    SHAPE_HAS_BASE = 1 << 4, /* not by a SIB byte, which may add one */
    SHAPE_SIZE_AT = 5,       /* of the displacement: 0, 1 or 4 */

    REGISTER_SHAPE = TR_HAS_MODRM,
    MEMORY_SHAPE = TR_HAS_MODRM | TR_MEMORY,
    BASE_SHAPE = MEMORY_SHAPE | SHAPE_HAS_BASE,
    SIB_SHAPE = BASE_SHAPE | SHAPE_HAS_SIB,
    BYTE_DISPLACEMENT = 1 << SHAPE_SIZE_AT,
    LONG_DISPLACEMENT = 4 << SHAPE_SIZE_AT,
};

/* The same for all values of ModRM.reg, by mod and rm. */
static const uint8_t shapes[] = {
    BASE_SHAPE,
    BASE_SHAPE,
    BASE_SHAPE,
    BASE_SHAPE,
    SIB_SHAPE,
    MEMORY_SHAPE | TR_RIP_RELATIVE | LONG_DISPLACEMENT,
    BASE_SHAPE,
    BASE_SHAPE,
    [8 ... 11] = BASE_SHAPE | BYTE_DISPLACEMENT,
    [12] = SIB_SHAPE | BYTE_DISPLACEMENT,
    [13 ... 15] = BASE_SHAPE | BYTE_DISPLACEMENT,
    [16 ... 19] = BASE_SHAPE | LONG_DISPLACEMENT,
    [20] = SIB_SHAPE | LONG_DISPLACEMENT,
    [21 ... 23] = BASE_SHAPE | LONG_DISPLACEMENT,
    [24 ... 31] = REGISTER_SHAPE,
};

/* The explicit operands, as far as they are known. */
struct operands {
    unsigned sets; /* of registers that are read and, from bit OPCODE_WRITTEN on, written */
    unsigned properties;
    unsigned modrm, modrm_at;
    unsigned displacement_size;
};

/* The set of a register that is read, written or both, as `word` says at `role_at`. */
static unsigned set_of(uint64_t word, unsigned role_at, unsigned number)
{
    return (unsigned)(word >> role_at & (1 | 1 << OPCODE_WRITTEN)) << number;
}

/* SPL to DIL need a REX prefix: without, AH to BH are meant. */
static unsigned byte_register(unsigned number, uint8_t rex)
{
    return rex ? number : number & 3;
}

/* The ModRM byte and what belongs to it, but for the displacement. */
static void decode_modrm(struct operands *operands, uint64_t word, struct encoding *encoding)
{
    enum { REGISTER = 0xc0, NO_BASE = 5, NO_INDEX = 4 };
    unsigned modrm = encoding->bytes[encoding->at];
    operands->modrm = modrm;
    operands->modrm_at = encoding->at++;
    if (word & OPCODE_REGISTERS)
        modrm |= REGISTER;
    unsigned shape = shapes[(modrm >> 3 & 0x18) | (modrm & 7)];
    unsigned size = shape >> SHAPE_SIZE_AT;
    unsigned reg = (modrm >> 3 & 7) | (encoding->extension & REX_R) << 1, rm = modrm & 7;
    bool is_memory = shape & TR_MEMORY;
    unsigned rm_set = set_of(word, OPCODE_RM_AT, 0) & ((unsigned)is_memory - 1);
    rm_set |= (shape & SHAPE_HAS_BASE) != 0;

    if (shape & SHAPE_HAS_SIB) {
        unsigned sib = encoding->bytes[encoding->at++];
        unsigned index = (sib >> 3 & 7) | (encoding->extension & REX_X) << 2;
        rm = sib & 7;
        if (size == 0 && rm == NO_BASE) {
            size = 4;
            rm_set = 0;
        }
        operands->sets |= (unsigned)((index != NO_INDEX) & !(word & OPCODE_VSIB)) << index;
    }
    rm |= (encoding->extension & REX_B) << 3;
    if (word & (OPCODE_BYTE_REG | OPCODE_BYTE_RM)) {
        reg = word & OPCODE_BYTE_REG ? byte_register(reg, encoding->rex) : reg;
        rm = is_memory ? rm : byte_register(rm, encoding->rex);
    }
    operands->sets |= set_of(word, OPCODE_REG_AT, reg) | rm_set << rm;
    operands->displacement_size = size;
    operands->properties |=
        (shape & SHAPE_PROPERTIES) | (encoding->extension & REX_B ? TR_EXTENDED_BASE : 0);
    bool stores = word & (OPCODE_STORES | UINT64_C(1) << OPCODE_RM_AT << OPCODE_WRITTEN);
    operands->properties |= (unsigned)(stores & is_memory) * TR_WRITES_MEMORY;
    if (word & OPCODE_ADDRESS)
        operands->properties &= ~(unsigned)TR_MEMORY;
}

static unsigned low_bits(uint64_t word, const struct encoding *encoding)
{
    unsigned number = (encoding->opcode & 7) | (encoding->extension & REX_B) << 3;
    return set_of(word, OPCODE_LOW_AT,
                  word & OPCODE_BYTE_REG ? byte_register(number, encoding->rex) : number);
}

/* ---- immediates ---- */

/* The size that `word` gives, changed by prefixes. */
static unsigned immediate_size(uint64_t word, const struct encoding *encoding, unsigned size)
{
    bool is_narrow = (encoding->prefixes & OPCODE_PREFIX_66) && !(encoding->extension & REX_W);
    if ((word & OPCODE_NARROWS) && is_narrow)
        return 2;
    bool is_offset = (word & OPCODE_DISPLACEMENT) && !(word & OPCODE_RELATIVE);
    if (is_offset && (encoding->prefixes & OPCODE_PREFIX_67))
        return 4;
    return size;
}

/* ---- what the words' bits cannot say ---- */

/* A count of 0 leaves the flags as they are, and one beyond 1 leaves OF undefined; so do, of CF,
 * those that shift a narrow operand out. The processor takes counts modulo 32, or 64. */
static unsigned flags_of_shift(const struct tr_instruction *instruction, uint64_t word,
                               const struct encoding *encoding, unsigned count)
{
    bool is_wide = (encoding->extension & REX_W) && !(word & OPCODE_BYTE_RM);
    unsigned bits = word & OPCODE_BYTE_RM                          ? 8
                    : is_wide                                      ? 64
                    : (encoding->prefixes & OPCODE_PREFIX_66) != 0 ? 16
                                                                   : 32;
    bool is_double = (word >> OPCODE_ACTION_AT & 31) == OPCODE_DOUBLE_SHIFT;
    count &= is_wide ? 63 : 31;
    if (count == 0 || (is_double && count > bits))
        return 0;
    return instruction->flags_written &
           ~(unsigned)((count == 1 ? 0 : TR_OF) | (count < bits ? 0 : TR_CF));
}

static void repeat(struct tr_instruction *instruction, const struct encoding *encoding)
{
    enum { COUNTER = 1 << 1 };
    if (!(encoding->prefixes & (OPCODE_PREFIX_F2 | OPCODE_PREFIX_F3)))
        return;
    instruction->properties |= TR_REPEAT;
    instruction->reads |= instruction->writes | COUNTER;
    instruction->writes |= COUNTER;
    instruction->flags_written = 0; /* not if the count is 0 */
}

static void act(struct tr_instruction *instruction, uint64_t word, const struct encoding *encoding,
                const uint8_t *bytes)
{
    enum { LINUX_32_BIT_CALL = 0x80, R11 = 1 << 11 };
    const uint8_t *immediate = bytes + instruction->immediate_at;
    switch ((enum opcode_action)(word >> OPCODE_ACTION_AT & 31)) {
    case OPCODE_SHIFT:
    case OPCODE_DOUBLE_SHIFT:
        instruction->flags_written =
            (uint8_t)flags_of_shift(instruction, word, encoding, *immediate);
        break;
    case OPCODE_STRING:
    case OPCODE_STRING_ES:
        if (word & OPCODE_STORES)
            instruction->properties |= TR_WRITES_MEMORY;
        repeat(instruction, encoding);
        break;
    case OPCODE_PUSH_POP:
        if (!(encoding->prefixes & OPCODE_PREFIX_66) || (encoding->extension & REX_W))
            instruction->properties |= TR_PUSH_POP;
        instruction->reg = (uint8_t)((encoding->opcode & 7) | (encoding->extension & REX_B) << 3);
        break;
    case OPCODE_LEA:
        instruction->properties |= TR_LEA;
        break;
    case OPCODE_EXCHANGE:
        if (instruction->properties & TR_MEMORY)
            instruction->properties |= TR_SYNCHRONISES;
        break;
    case OPCODE_FENCE:
        instruction->properties |= TR_SYNCHRONISES;
        break;
    case OPCODE_TIME_STAMP:
        instruction->properties |= TR_TIME_STAMP;
        break;
    case OPCODE_POP_BYTES:
        instruction->pop_bytes = (uint16_t)(immediate[0] | immediate[1] << 8);
        break;
    case OPCODE_READS_GS_BASE:
        instruction->properties |= TR_GS_OPERAND;
        break;
    case OPCODE_SYSTEM_CALL:
        instruction->writes |= R11;
        break;
    case OPCODE_READS_ALL:
        instruction->reads = UINT16_MAX;
        break;
    case OPCODE_INTERRUPT:
        if (*immediate == LINUX_32_BIT_CALL)
            instruction->kind = TR_INT80;
        break;
    case OPCODE_ABSOLUTE:
        instruction->properties |= TR_MEMORY | (word & OPCODE_STORES ? TR_WRITES_MEMORY : 0);
        break;
    case OPCODE_IMPLICIT_MEMORY:
        if (word & OPCODE_STORES)
            instruction->properties |= TR_WRITES_MEMORY;
        break;
    case OPCODE_NO_ACTION:
    case OPCODE_COUNTER:
        break;
    }
}

/* RSP, written by an explicit operand, becomes RSP plus or minus a constant, or is aligned. */
static bool adjusts_stack(const struct tr_instruction *instruction, const struct encoding *encoding,
                          const uint8_t *bytes)
{
    enum { ADD = 0, AND = 4, SUB = 5, INC = 0, DEC = 1 };
    enum { SIB = 4, BASE_AND_INDEX = 0x3f, RSP_WITHOUT_INDEX = 0x24 };
    unsigned reg = instruction->modrm >> 3 & 7;
    if (instruction->map != 0 || !(encoding->extension & REX_W))
        return false;
    switch (instruction->opcode) {
    case 0x81:
    case 0x83:
        return reg == ADD || reg == AND || reg == SUB;
    case 0xff:
        return reg == INC || reg == DEC;
    case 0x8d:
        return (instruction->modrm & 7) == SIB &&
               (bytes[instruction->modrm_at + 1] & BASE_AND_INDEX) == RSP_WITHOUT_INDEX &&
               !(encoding->extension & (REX_X | REX_B)) && !(encoding->prefixes & OPCODE_PREFIX_67);
    default:
        return false;
    }
}

static void apply_prefixes(struct tr_instruction *instruction, uint64_t word,
                           const struct encoding *encoding)
{
    unsigned prefixes = encoding->prefixes, action = word >> OPCODE_ACTION_AT & 31;
    bool is_implicit = action == OPCODE_STRING || action == OPCODE_IMPLICIT_MEMORY;
    bool has_address = (instruction->properties & TR_MEMORY) ||
                       ((word & OPCODE_ADDRESS) && instruction->modrm < 0xc0);
    if ((instruction->properties & TR_MEMORY) || is_implicit)
        instruction->properties |= (prefixes & OPCODE_PREFIX_GS ? TR_GS_OPERAND : 0) |
                                   (prefixes & OPCODE_PREFIX_FS ? TR_FS_OPERAND : 0);
    if ((prefixes & OPCODE_PREFIX_67) &&
        (has_address || is_implicit || action == OPCODE_COUNTER || action == OPCODE_STRING_ES))
        instruction->properties |= TR_ADDRESS_32;
    if ((prefixes & OPCODE_PREFIX_67) && (instruction->properties & TR_RIP_RELATIVE))
        instruction->target = (uint32_t)instruction->target;
    if (prefixes & OPCODE_PREFIX_LOCK)
        instruction->properties |= TR_SYNCHRONISES;
    if ((prefixes & OPCODE_PREFIX_66) && !(encoding->extension & REX_W) && !(word & OPCODE_WHOLE))
        instruction->reads |= instruction->writes;
}

static uint64_t displacement(const struct tr_instruction *instruction, const uint8_t *bytes)
{
    bytes += instruction->displacement_at;
    if (instruction->displacement_size == 1)
        return (uint64_t)(int8_t)bytes[0];
    if (instruction->displacement_size == 2)
        return (uint64_t)(int16_t)(bytes[0] | bytes[1] << 8);
    return (uint64_t)(int32_t)read_32(bytes);
}

/* ---- the instruction ---- */

/* Bytes that are no instruction; the first `looked_at` of them show that. */
static bool undefined(struct tr_instruction *instruction, const uint8_t *bytes, size_t size,
                      unsigned looked_at)
{
    if (looked_at > size && size < LONGEST)
        return false;
    *instruction = (struct tr_instruction){
        .length = 1, .kind = TR_TRAP, .opcode = bytes[0], .flags_read = TR_ALL_FLAGS};
    return true;
}

/* LOCK is for instructions that change memory. */
static bool may_lock(const struct tr_instruction *instruction)
{
    return instruction->kind == TR_PLAIN && (instruction->properties & TR_WRITES_MEMORY) != 0;
}

static void store_opcode(struct tr_instruction *instruction, uint64_t word,
                         const struct encoding *encoding)
{
    instruction->kind = word >> OPCODE_KIND_AT & 15;
    instruction->condition = encoding->opcode & 15;
    instruction->opcode = encoding->opcode;
    instruction->map = encoding->map;
    instruction->reg = 0;
    instruction->rex = encoding->rex;
    instruction->prefix_size = (uint8_t)encoding->prefix_size;
    instruction->flags_read = word >> OPCODE_FLAGS_AT & TR_ALL_FLAGS;
    instruction->flags_written = word >> (OPCODE_FLAGS_AT + OPCODE_WRITTEN) & TR_ALL_FLAGS;
    instruction->pop_bytes = 0;
    instruction->target = 0;
}

/* `number_size` bytes at the end are an immediate or a displacement. */
static void store_operands(struct tr_instruction *instruction, uint64_t word,
                           const struct encoding *encoding, const struct operands *operands,
                           unsigned number_size)
{
    unsigned implicit = word >> OPCODE_IMPLICIT_AT & (0xff | 0xff << OPCODE_WRITTEN);
    unsigned sets = operands->sets | implicit;
    bool is_displacement = word & OPCODE_DISPLACEMENT;
    unsigned displacement_size = is_displacement ? number_size : operands->displacement_size;
    instruction->modrm = (uint8_t)operands->modrm;
    instruction->modrm_at = (uint8_t)operands->modrm_at;
    instruction->displacement_at = (uint8_t)encoding->at;
    instruction->displacement_size = (uint8_t)displacement_size;
    instruction->immediate_at = (uint8_t)(encoding->at + operands->displacement_size);
    instruction->immediate_size = (uint8_t)(is_displacement ? 0 : number_size);
    instruction->reads = (uint16_t)sets;
    instruction->writes = (uint16_t)(sets >> OPCODE_WRITTEN);
    instruction->properties = operands->properties;
}

/* One byte, or two of which the first is REX: the usual opcodes. */
static struct encoding first_encoding(const uint8_t *bytes)
{
    unsigned has_rex = (bytes[0] & 0xf0) == 0x40;
    uint8_t rex = (uint8_t)(bytes[0] & (0 - has_rex)), opcode = bytes[has_rex];
    return (struct encoding){.bytes = bytes,
                             .word = tr_opcodes[OPCODES_ONE_BYTE][opcode],
                             .at = has_rex + 1,
                             .extension = rex & 15,
                             .rex = rex,
                             .opcode = opcode};
}

bool tr_decode(struct tr_instruction *restrict instruction, const uint8_t *restrict bytes,
               size_t size, uint64_t pc)
{
    uint8_t copy[LONGEST + LOOKED_AT];
    struct encoding encoding =
        first_encoding(size < LONGEST ? with_zeros(copy, bytes, size) : bytes);
    if (encoding.word & OPCODE_ESCAPE)
        encoding = escaped(encoding, size, copy);
    uint64_t word = encoding.word;
    bool is_choice = word & OPCODE_CHOICE;
    if (is_choice)
        word = chosen(word, &encoding, encoding.bytes[encoding.at]);
    if (!word)
        return undefined(instruction, bytes, size, encoding.at + is_choice);
    store_opcode(instruction, word, &encoding);

    struct operands operands = {.properties = encoding.is_vector ? TR_VECTOR : 0};
    if (word & OPCODE_MODRM)
        decode_modrm(&operands, word, &encoding);
    else
        operands.sets = low_bits(word, &encoding);
    if (encoding.is_vector)
        operands.sets |= set_of(word, OPCODE_VVVV_AT, encoding.vvvv);
    unsigned number_size = word >> OPCODE_IMMEDIATE_AT & 15;
    if (encoding.prefixes)
        number_size = immediate_size(word, &encoding, number_size);
    unsigned length = encoding.at + operands.displacement_size + number_size;
    if (length > size || length > LONGEST)
        return undefined(instruction, bytes, size, length);
    instruction->length = (uint8_t)length;
    store_operands(instruction, word, &encoding, &operands, number_size);

    if ((operands.sets & 1u << STACK_POINTER << OPCODE_WRITTEN) &&
        !adjusts_stack(instruction, &encoding, bytes))
        instruction->properties |= TR_LOADS_STACK;
    if (word >> OPCODE_ACTION_AT & 31)
        act(instruction, word, &encoding, bytes);
    if ((word & OPCODE_RELATIVE) || (operands.properties & TR_RIP_RELATIVE))
        instruction->target = pc + length + displacement(instruction, bytes);
    if (encoding.prefixes)
        apply_prefixes(instruction, word, &encoding);
    if ((encoding.prefixes & OPCODE_PREFIX_LOCK) && !may_lock(instruction))
        return undefined(instruction, bytes, size, length);
    return true;
}
