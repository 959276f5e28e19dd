#include "decode.h"

#include "opcodes.h"

enum {
    LONGEST = 15,    /* bytes of an instruction */
    READ_AHEAD = 40, /* so many bytes are looked at, at most, even if no instruction is that long */
    STACK_POINTER = 4,
};

/* The bits of REX, as they are in its low half. */
enum { REX_B = 1, REX_X = 2, REX_R = 4, REX_W = 8 };

/* What prefixes and escapes say of the instruction. */
struct encoding {
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
static void read_prefixes(struct encoding *encoding, const uint8_t *bytes)
{
    static const unsigned repeats = OPCODE_PREFIX_F2 | OPCODE_PREFIX_F3;
    static const unsigned segments = OPCODE_PREFIX_FS | OPCODE_PREFIX_GS;
    encoding->rex = 0;
    encoding->at = 0;
    for (; encoding->at < LONGEST; encoding->at++) {
        uint64_t word = tr_opcodes[OPCODES_ONE_BYTE][bytes[encoding->at]];
        unsigned prefix = word & OPCODE_ESCAPE ? word & OPCODE_PREFIXES : 0;
        if (!prefix)
            break;
        encoding->rex = prefix == OPCODE_PREFIX_REX ? bytes[encoding->at] : 0;
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

static uint64_t two_byte_opcode(struct encoding *encoding, const uint8_t *bytes)
{
    encoding->map = 1;
    encoding->opcode = bytes[encoding->at++];
    if (encoding->opcode != 0x38 && encoding->opcode != 0x3a)
        return tr_opcodes[OPCODES_0F][encoding->opcode];
    encoding->map = encoding->opcode == 0x38 ? 2 : 3;
    encoding->opcode = bytes[encoding->at++];
    return tr_opcodes[encoding->map == 2 ? OPCODES_0F38 : OPCODES_0F3A][encoding->opcode];
}

/* VEX, EVEX and XOP take the place of these prefixes. */
static bool may_be_vector(const struct encoding *encoding)
{
    return !encoding->rex && !(encoding->prefixes & (OPCODE_PREFIX_66 | OPCODE_PREFIX_F2 |
                                                     OPCODE_PREFIX_F3 | OPCODE_PREFIX_LOCK));
}

/* From the bytes that VEX of three bytes, XOP and EVEX have in common. */
static void read_vector_fields(struct encoding *encoding, unsigned first, unsigned second)
{
    encoding->extension = (~first >> 5 & (REX_R | REX_X | REX_B)) | (second >> 4 & REX_W);
    encoding->vvvv = ~second >> 3 & 15;
    encoding->simd_prefix = second & 3;
    encoding->is_vector = true;
}

static uint64_t vector_opcode(struct encoding *encoding, const uint8_t *bytes,
                              const uint8_t *tables)
{
    encoding->opcode = bytes[encoding->at++];
    return encoding->map < 16 && tables[encoding->map] != OPCODE_TABLES
               ? tr_opcodes[tables[encoding->map]][encoding->opcode]
               : 0;
}

enum { NONE = OPCODE_TABLES };
static const uint8_t vex_maps[16] = {NONE,
                                     OPCODES_VEX_0F,
                                     OPCODES_VEX_0F38,
                                     OPCODES_VEX_0F3A,
                                     NONE,
                                     OPCODES_VEX_MAP5,
                                     NONE,
                                     OPCODES_VEX_MAP7,
                                     NONE,
                                     NONE,
                                     NONE,
                                     NONE,
                                     NONE,
                                     NONE,
                                     NONE,
                                     NONE};
static const uint8_t evex_maps[16] = {NONE,
                                      OPCODES_EVEX_0F,
                                      OPCODES_EVEX_0F38,
                                      OPCODES_EVEX_0F3A,
                                      NONE,
                                      OPCODES_EVEX_MAP5,
                                      OPCODES_EVEX_MAP6,
                                      NONE,
                                      NONE,
                                      NONE,
                                      NONE,
                                      NONE,
                                      NONE,
                                      NONE,
                                      NONE,
                                      NONE};
static const uint8_t xop_maps[16] = {NONE, NONE, NONE,         NONE,         NONE,         NONE,
                                     NONE, NONE, OPCODES_XOP8, OPCODES_XOP9, OPCODES_XOPA, NONE,
                                     NONE, NONE, NONE,         NONE};

static uint64_t vex_2(struct encoding *encoding, const uint8_t *bytes)
{
    unsigned byte = bytes[encoding->at++];
    read_vector_fields(encoding, byte | 0x60, byte & 0x7f);
    encoding->map = 1;
    return vector_opcode(encoding, bytes, vex_maps);
}

static uint64_t vex_3(struct encoding *encoding, const uint8_t *bytes, const uint8_t *maps)
{
    unsigned first = bytes[encoding->at], second = bytes[encoding->at + 1];
    encoding->at += 2;
    read_vector_fields(encoding, first, second);
    encoding->map = first & 31;
    return vector_opcode(encoding, bytes, maps);
}

/* The bits that EVEX keeps at 0 and at 1 mean registers R16 to R31 (APX), which are out of scope,
 * or a Xeon Phi of the first generation. */
static uint64_t evex(struct encoding *encoding, const uint8_t *bytes)
{
    enum { ALWAYS_0 = 8, ALWAYS_1 = 4 };
    unsigned first = bytes[encoding->at], second = bytes[encoding->at + 1];
    encoding->at += 3;
    read_vector_fields(encoding, first, second);
    encoding->map = first & 7;
    uint64_t word = vector_opcode(encoding, bytes, evex_maps);
    return !(first & ALWAYS_0) && (second & ALWAYS_1) ? word : 0;
}

/* The opcode's word if the first byte, after REX, is a prefix or an escape. */
static uint64_t escaped(struct encoding *encoding, const uint8_t *bytes, uint64_t word)
{
    enum { FIRST_XOP_MAP = 8 };
    if (word & OPCODE_PREFIXES) {
        read_prefixes(encoding, bytes);
        encoding->extension = encoding->rex & 15;
        encoding->opcode = bytes[encoding->at++];
        if (encoding->at > LONGEST)
            return 0;
        word = tr_opcodes[OPCODES_ONE_BYTE][encoding->opcode];
        if (!(word & OPCODE_ESCAPE))
            return word;
    }
    if (word & OPCODE_TWO_BYTES)
        return two_byte_opcode(encoding, bytes);
    if ((word & OPCODE_POP_OR_XOP) && (bytes[encoding->at] & 31) < FIRST_XOP_MAP)
        return word;
    if (!may_be_vector(encoding))
        return 0;
    if (word & OPCODE_VEX2)
        return vex_2(encoding, bytes);
    if (word & OPCODE_EVEX)
        return evex(encoding, bytes);
    return vex_3(encoding, bytes, word & OPCODE_VEX3 ? vex_maps : xop_maps);
}

/* ---- choices ---- */

static uint64_t chosen(uint64_t word, const struct encoding *encoding, unsigned modrm)
{
    do {
        unsigned row = word & OPCODE_ROW, column = modrm >> 3 & 7;
        bool is_register = modrm >= 0xc0;
        switch ((enum opcode_selector)(word >> OPCODE_SELECTOR_AT & 7)) {
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
        }
        word = tr_opcode_choices[row][column];
    } while (word & OPCODE_CHOICE);
    return word;
}

/* ---- operands ---- */

/* Whether a register is read and written by an explicit operand of `word`, as a set. */
static unsigned operand(uint64_t word, unsigned role_at, unsigned number)
{
    return (unsigned)(word >> role_at & 1) << number;
}

/* SPL to DIL need a REX prefix: without, AH to BH are meant. */
static unsigned byte_register(unsigned number, uint8_t rex)
{
    return rex ? number : number & 3;
}

static void use(struct tr_instruction *instruction, uint64_t word, unsigned read_at,
                unsigned number)
{
    instruction->reads |= (uint16_t)operand(word, read_at, number);
    instruction->writes |= (uint16_t)operand(word, read_at + 1, number);
}

/* Base, index and displacement; `at` is behind the ModRM byte, and behind them afterwards. */
static void decode_address(struct tr_instruction *restrict instruction, uint64_t word,
                           struct encoding *encoding, const uint8_t *restrict bytes)
{
    enum { SIB = 4, NO_BASE = 5, NO_INDEX = 4 };
    unsigned mode = instruction->modrm >> 6, base = instruction->modrm & 7;
    unsigned size = mode == 2 ? 4 : mode;
    bool has_base = true;
    if (base == SIB) {
        unsigned sib = bytes[encoding->at++];
        unsigned index = (sib >> 3 & 7) | (encoding->extension & REX_X) << 2;
        base = sib & 7;
        has_base = mode || base != NO_BASE;
        if (index != NO_INDEX && !(word & OPCODE_VSIB))
            instruction->reads |= (uint16_t)(1u << index);
    } else if (!mode && base == NO_BASE) {
        has_base = false;
        instruction->properties |= TR_RIP_RELATIVE;
    }
    if (has_base)
        instruction->reads |= (uint16_t)(1u << (base | (encoding->extension & REX_B) << 3));
    else
        size = 4;
    if (!(word & OPCODE_ADDRESS))
        instruction->properties |= TR_MEMORY;
    if ((word & OPCODE_STORES) || (word >> OPCODE_RM_WRITTEN_AT & 1))
        instruction->properties |= TR_WRITES_MEMORY;
    if (size)
        instruction->displacement_at = (uint8_t)encoding->at;
    instruction->displacement_size = (uint8_t)size;
    encoding->at += size;
}

static void decode_modrm(struct tr_instruction *restrict instruction, uint64_t word,
                         struct encoding *encoding, const uint8_t *restrict bytes)
{
    unsigned modrm = bytes[encoding->at];
    unsigned reg = (modrm >> 3 & 7) | (encoding->extension & REX_R) << 1;
    unsigned rm = (modrm & 7) | (encoding->extension & REX_B) << 3;
    instruction->modrm = (uint8_t)modrm;
    instruction->modrm_at = (uint8_t)encoding->at++;
    instruction->properties |= TR_HAS_MODRM | (encoding->extension & REX_B ? TR_EXTENDED_BASE : 0);
    use(instruction, word, OPCODE_REG_READ_AT,
        word & OPCODE_BYTE_REG ? byte_register(reg, encoding->rex) : reg);
    if (modrm >= 0xc0 || (word & OPCODE_REGISTERS))
        use(instruction, word, OPCODE_RM_READ_AT,
            word & OPCODE_BYTE_RM ? byte_register(rm, encoding->rex) : rm);
    else
        decode_address(instruction, word, encoding, bytes);
}

static void decode_low_bits(struct tr_instruction *instruction, uint64_t word,
                            const struct encoding *encoding)
{
    unsigned number = (encoding->opcode & 7) | (encoding->extension & REX_B) << 3;
    use(instruction, word, OPCODE_LOW_READ_AT,
        word & OPCODE_BYTE_REG ? byte_register(number, encoding->rex) : number);
}

/* ---- immediates ---- */

static void decode_immediate(struct tr_instruction *instruction, uint64_t word,
                             struct encoding *encoding)
{
    enum opcode_immediate form = word >> OPCODE_IMMEDIATE_AT & 15;
    /* By the operand's size: 32, 16 and 64 bits. */
    static const uint8_t sizes[][3] = {
        [OPCODE_IMMEDIATE_8] = {1, 1, 1},    [OPCODE_IMMEDIATE_16] = {2, 2, 2},
        [OPCODE_IMMEDIATE_32] = {4, 4, 4},   [OPCODE_IMMEDIATE_Z] = {4, 2, 4},
        [OPCODE_IMMEDIATE_V] = {4, 2, 8},    [OPCODE_IMMEDIATE_8_8] = {2, 2, 2},
        [OPCODE_IMMEDIATE_16_8] = {3, 3, 3}, [OPCODE_OFFSET] = {0},
        [OPCODE_RELATIVE_8] = {1, 1, 1},     [OPCODE_RELATIVE_32] = {4, 4, 4},
        [OPCODE_RELATIVE_Z] = {4, 2, 4},
    };
    unsigned operand_size = encoding->extension & REX_W                    ? 2
                            : (encoding->prefixes & OPCODE_PREFIX_66) != 0 ? 1
                                                                           : 0;
    unsigned size = sizes[form][operand_size];
    if (form == OPCODE_OFFSET) {
        size = encoding->prefixes & OPCODE_PREFIX_67 ? 4 : 8;
        instruction->properties |= TR_MEMORY | (word & OPCODE_STORES ? TR_WRITES_MEMORY : 0);
    }
    if (form >= OPCODE_OFFSET) {
        instruction->displacement_at = (uint8_t)encoding->at;
        instruction->displacement_size = (uint8_t)size;
    } else {
        instruction->immediate_at = (uint8_t)encoding->at;
        instruction->immediate_size = (uint8_t)size;
    }
    encoding->at += size;
}

/* ---- what the words' bits cannot say ---- */

/* A count of 0 leaves the flags as they are, and one beyond 1 leaves OF undefined; so do, of CF,
 * those that shift a narrow operand out. The processor takes counts modulo 32, or 64. */
static unsigned flags_of_shift(const struct tr_instruction *instruction, uint64_t word,
                               const struct encoding *encoding, unsigned count)
{
    bool is_wide = encoding->extension & REX_W;
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

/* Bytes that are no instruction, which is known after `looked_at` of them. */
static bool undefined(struct tr_instruction *instruction, const uint8_t *bytes, size_t size,
                      unsigned looked_at)
{
    if (looked_at > size)
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

/* READ_AHEAD bytes are readable, of which `size` are the code's. */
static bool decode(struct tr_instruction *restrict instruction, const uint8_t *restrict bytes,
                   size_t size, uint64_t pc)
{
    uint8_t rex = (bytes[0] & 0xf0) == 0x40 ? bytes[0] : 0;
    struct encoding encoding = {.at = rex != 0, .rex = rex, .extension = rex & 15};
    encoding.opcode = bytes[encoding.at++];
    uint64_t word = tr_opcodes[OPCODES_ONE_BYTE][encoding.opcode];
    if (word & OPCODE_ESCAPE)
        word = escaped(&encoding, bytes, word);
    if (word & OPCODE_CHOICE)
        word = chosen(word, &encoding, bytes[encoding.at]);
    if (!word)
        return undefined(instruction, bytes, size, encoding.at + 1);

    *instruction = (struct tr_instruction){
        .kind = (uint8_t)(word >> OPCODE_KIND_AT & 15),
        .condition = encoding.opcode & 15,
        .opcode = encoding.opcode,
        .map = encoding.map,
        .rex = encoding.rex,
        .prefix_size = (uint8_t)encoding.prefix_size,
        .flags_read = word >> OPCODE_FLAGS_READ_AT & TR_ALL_FLAGS,
        .flags_written = word >> OPCODE_FLAGS_WRITTEN_AT & TR_ALL_FLAGS,
        .properties = encoding.is_vector ? TR_VECTOR : 0,
    };
    if (word & OPCODE_MODRM)
        decode_modrm(instruction, word, &encoding, bytes);
    else
        decode_low_bits(instruction, word, &encoding);
    if (encoding.is_vector)
        use(instruction, word, OPCODE_VVVV_READ_AT, encoding.vvvv);
    enum opcode_immediate immediate = word >> OPCODE_IMMEDIATE_AT & 15;
    if (immediate)
        decode_immediate(instruction, word, &encoding);
    if (encoding.at > size || encoding.at > LONGEST)
        return undefined(instruction, bytes, size, encoding.at > LONGEST ? LONGEST : encoding.at);

    if ((instruction->writes & 1 << STACK_POINTER) && !adjusts_stack(instruction, &encoding, bytes))
        instruction->properties |= TR_LOADS_STACK;
    instruction->length = (uint8_t)encoding.at;
    instruction->reads |= word >> OPCODE_READS_AT & 0xff;
    instruction->writes |= word >> OPCODE_WRITES_AT & 0xff;
    if (word >> OPCODE_ACTION_AT & 31)
        act(instruction, word, &encoding, bytes);
    if (encoding.prefixes)
        apply_prefixes(instruction, word, &encoding);
    if ((encoding.prefixes & OPCODE_PREFIX_LOCK) && !may_lock(instruction))
        return undefined(instruction, bytes, size, encoding.at);
    if (immediate > OPCODE_OFFSET || (instruction->properties & TR_RIP_RELATIVE))
        instruction->target = pc + encoding.at + displacement(instruction, bytes);
    if ((instruction->properties & TR_RIP_RELATIVE) && (encoding.prefixes & OPCODE_PREFIX_67))
        instruction->target = (uint32_t)instruction->target;
    return true;
}

bool tr_decode(struct tr_instruction *instruction, const uint8_t *bytes, size_t size, uint64_t pc)
{
    if (size >= READ_AHEAD)
        return decode(instruction, bytes, size, pc);
    uint8_t padded[READ_AHEAD];
    for (size_t i = 0; i < READ_AHEAD; i++)
        padded[i] = i < size ? bytes[i] : 0;
    return decode(instruction, padded, size, pc);
}
