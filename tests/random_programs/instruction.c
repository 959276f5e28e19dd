#include "instruction.h"

#include "layout.h"

#include <string.h>

#include <Zydis/Zydis.h>

enum { LONGEST = 15, BITS_OF_BYTE = 8 };

struct candidate {
    uint8_t bytes[32];
    ZydisDecodedInstruction instruction;
    ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
    uint64_t data;
    unsigned reserved;
    uint64_t place;  /* where a memory operand is to lie */
    bool is_patched; /* the displacement is to be that of `place` */
};

/* ---- random encodings ---- */

static size_t put_prefixes(uint8_t *bytes, struct random *random)
{
    static const uint8_t prefixes[] = {0x66, 0x66, 0x66, 0xf2, 0xf3, 0xf3, 0x64,
                                       0x2e, 0x3e, 0x26, 0x36, 0x67, 0xf0, 0xf0};
    size_t size = 0;
    while (size < 4 && random_percent(random, 30))
        bytes[size++] = prefixes[random_below(random, sizeof prefixes)];
    return size;
}

static size_t put_vector_prefix(uint8_t *bytes, struct random *random)
{
    uint64_t fields = random_64(random);
    unsigned vvvv = random_percent(random, 30) ? 0x78 : (unsigned)(fields >> 16) & 0x78;
    unsigned rest = (unsigned)(fields >> 24) & 0x87;
    switch (random_below(random, 6)) {
    case 0:
        bytes[0] = 0xc5;
        bytes[1] = (uint8_t)(vvvv | rest);
        return 2;
    case 1:
    case 2:
        bytes[0] = 0xc4;
        bytes[1] = (uint8_t)((fields & 0xe0) | (1 + random_below(random, 3)));
        bytes[2] = (uint8_t)(vvvv | rest);
        return 3;
    default:
        bytes[0] = 0x62;
        bytes[1] = (uint8_t)((fields & 0xf0) | (1 + random_below(random, 3)));
        bytes[2] = (uint8_t)(vvvv | (rest & 0x83) | 4);
        bytes[3] = (uint8_t)(fields >> 8);
        if (random_percent(random, 50)) /* neither masks nor broadcasts */
            bytes[3] &= 0x68;
        if (random_percent(random, 60))
            bytes[3] |= 8;
        return 4;
    }
}

static size_t put_rex(uint8_t *bytes, struct random *random)
{
    if (random_percent(random, 40))
        return 0;
    bytes[0] = (uint8_t)(0x40 | random_below(random, 16));
    return 1;
}

static size_t put_opcode(uint8_t *bytes, struct random *random)
{
    size_t size = put_prefixes(bytes, random);
    size += put_rex(bytes + size, random);
    unsigned map = random_below(random, 100);
    if (map < 35) {
        bytes[size++] = (uint8_t)random_64(random);
    } else if (map < 43) {
        bytes[size++] = (uint8_t)(0xd8 | random_below(random, 8));
    } else {
        bytes[size++] = 0x0f;
        if (map >= 80)
            bytes[size++] = map < 91 ? 0x38 : 0x3a;
        bytes[size++] = (uint8_t)random_64(random);
    }
    return size;
}

static uint8_t modrm(struct random *random)
{
    uint8_t any = (uint8_t)random_64(random);
    unsigned choice = random_below(random, 100);
    if (choice < 45)
        return any | 0xc0;
    if (choice < 65)
        return (any & 0x38) | 5; /* relative to RIP */
    return any;
}

static void make_encoding(uint8_t *bytes, struct random *random)
{
    for (size_t i = 0; i < 32; i += sizeof(uint64_t)) {
        uint64_t any = random_64(random);
        memcpy(bytes + i, &any, sizeof any);
    }
    size_t size = 0;
    if (random_percent(random, 28)) {
        size = random_percent(random, 10) ? 1 : 0;
        bytes[0] = 0x64;
        size += put_vector_prefix(bytes + size, random);
        size++;
    } else {
        size = put_opcode(bytes, random);
    }
    bytes[size] = modrm(random);
}

/* ---- what may run ---- */

static bool is_left_out(ZydisMnemonic mnemonic)
{
    switch (mnemonic) {
    /* of their own at each run */
    case ZYDIS_MNEMONIC_CPUID:
    case ZYDIS_MNEMONIC_RDPID:
    case ZYDIS_MNEMONIC_RDPKRU:
    case ZYDIS_MNEMONIC_WRPKRU:
    case ZYDIS_MNEMONIC_RDPRU:
    case ZYDIS_MNEMONIC_RDRAND:
    case ZYDIS_MNEMONIC_RDSEED:
    case ZYDIS_MNEMONIC_RDTSC:
    case ZYDIS_MNEMONIC_RDTSCP:
    case ZYDIS_MNEMONIC_RDPMC:
    case ZYDIS_MNEMONIC_XGETBV:
    case ZYDIS_MNEMONIC_SLDT:
    case ZYDIS_MNEMONIC_SMSW:
    case ZYDIS_MNEMONIC_STR:
    case ZYDIS_MNEMONIC_SGDT:
    case ZYDIS_MNEMONIC_SIDT:
    case ZYDIS_MNEMONIC_LAR:
    case ZYDIS_MNEMONIC_LSL:
    /* waiting */
    case ZYDIS_MNEMONIC_MONITORX:
    case ZYDIS_MNEMONIC_MWAITX:
    case ZYDIS_MNEMONIC_TPAUSE:
    case ZYDIS_MNEMONIC_UMONITOR:
    case ZYDIS_MNEMONIC_UMWAIT:
    /* addresses of x87 instructions, or control words that unmask exceptions */
    case ZYDIS_MNEMONIC_FNSTENV:
    case ZYDIS_MNEMONIC_FNSAVE:
    case ZYDIS_MNEMONIC_FXSAVE:
    case ZYDIS_MNEMONIC_FXSAVE64:
    case ZYDIS_MNEMONIC_FLDENV:
    case ZYDIS_MNEMONIC_FRSTOR:
    case ZYDIS_MNEMONIC_FXRSTOR:
    case ZYDIS_MNEMONIC_FXRSTOR64:
    case ZYDIS_MNEMONIC_FLDCW:
    case ZYDIS_MNEMONIC_LDMXCSR:
    case ZYDIS_MNEMONIC_VLDMXCSR:
    case ZYDIS_MNEMONIC_RDGSBASE:
    case ZYDIS_MNEMONIC_WRFSBASE:
    case ZYDIS_MNEMONIC_WRGSBASE:
    case ZYDIS_MNEMONIC_SWAPGS:
    case ZYDIS_MNEMONIC_UD0:
    case ZYDIS_MNEMONIC_UD1:
    case ZYDIS_MNEMONIC_UD2:
    case ZYDIS_MNEMONIC_HLT:
    case ZYDIS_MNEMONIC_XBEGIN:
    case ZYDIS_MNEMONIC_XABORT:
        return true;
    default:
        return false;
    }
}

static bool is_usable_category(ZydisInstructionCategory category)
{
    switch (category) {
    case ZYDIS_CATEGORY_COND_BR:
    case ZYDIS_CATEGORY_UNCOND_BR:
    case ZYDIS_CATEGORY_CALL:
    case ZYDIS_CATEGORY_RET:
    case ZYDIS_CATEGORY_INTERRUPT:
    case ZYDIS_CATEGORY_SYSCALL:
    case ZYDIS_CATEGORY_SYSRET:
    case ZYDIS_CATEGORY_IO:
    case ZYDIS_CATEGORY_IOSTRINGOP:
    case ZYDIS_CATEGORY_XSAVE:
    case ZYDIS_CATEGORY_XSAVEOPT:
    case ZYDIS_CATEGORY_VTX:
    case ZYDIS_CATEGORY_SGX:
    case ZYDIS_CATEGORY_UINTR:
    case ZYDIS_CATEGORY_CET:
    case ZYDIS_CATEGORY_PADLOCK:
        return false;
    default:
        return true;
    }
}

/* The general register's number, or -1. */
static int general(ZydisRegister reg)
{
    ZydisRegister whole = ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, reg);
    if (ZydisRegisterGetClass(whole) != ZYDIS_REGCLASS_GPR64)
        return -1;
    return ZydisRegisterGetId(whole);
}

static bool is_usable_operand(const struct candidate *candidate, const ZydisDecodedOperand *operand)
{
    if (operand->type == ZYDIS_OPERAND_TYPE_MEMORY)
        return operand->mem.segment != ZYDIS_REGISTER_GS;
    if (operand->type != ZYDIS_OPERAND_TYPE_REGISTER)
        return operand->type == ZYDIS_OPERAND_TYPE_IMMEDIATE;
    /* EPYC of family 1Ah: VCVTSI2SD of ESP, with EVEX.X clear, sometimes takes a value that ESP had before. */
    if (candidate->instruction.encoding != ZYDIS_INSTRUCTION_ENCODING_LEGACY &&
        general(operand->reg.value) == RSP)
        return false;
    if (!(operand->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE))
        return true;
    int reg = general(operand->reg.value);
    if (reg >= 0)
        return !((candidate->reserved | 1u << RSP) >> reg & 1);
    return ZydisRegisterGetClass(operand->reg.value) != ZYDIS_REGCLASS_SEGMENT;
}

static bool is_usable(const struct candidate *candidate)
{
    if (is_left_out(candidate->instruction.mnemonic) ||
        !is_usable_category(candidate->instruction.meta.category))
        return false;
    for (size_t i = 0; i < candidate->instruction.operand_count; i++)
        if (!is_usable_operand(candidate, &candidate->operands[i]))
            return false;
    return true;
}

/* ---- operands in memory ---- */

/* A general register gets a value. False: it is to keep its own. */
static bool set_register(const struct candidate *candidate, struct code *code, int reg,
                         uint64_t value)
{
    if (reg < 0 || ((candidate->reserved | 1u << RSP) >> reg & 1))
        return false;
    code_constant(code, (unsigned)reg, value);
    return true;
}

/* A vector register that is an index becomes 0. */
static void clear_vector(struct code *code, ZydisRegister reg)
{
    unsigned id = (unsigned)ZydisRegisterGetId(reg);
    if (id > 15) { /* vpxord zmm, zmm, zmm */
        code_8(code, 0x62);
        code_8(code, id & 8 ? 0x01 : 0xa1);
    } else { /* vpxor ymm, ymm, ymm */
        code_8(code, 0xc4);
        code_8(code, id & 8 ? 0x41 : 0xe1);
    }
    code_8(code, 0x05 | (~id & 15) << 3);
    if (id > 15)
        code_8(code, 0x40);
    code_8(code, 0xef);
    code_8(code, 0xc0 | (id & 7) * 9);
}

static uint64_t segment_base(const struct candidate *candidate, ZydisRegister segment)
{
    return segment == ZYDIS_REGISTER_FS ? candidate->data + ARENA_MIDDLE : 0;
}

static bool has_short_addresses(const struct candidate *candidate)
{
    return candidate->instruction.address_width == 32;
}

/* [rsp + ...]: the red zone, if the encoding allows to say so. */
static bool place_in_red_zone(struct candidate *candidate, const ZydisDecodedOperandMem *operand,
                              struct random *random)
{
    const ZydisDecodedInstruction *instruction = &candidate->instruction;
    if (operand->index != ZYDIS_REGISTER_NONE || instruction->raw.disp.size != BITS_OF_BYTE ||
        instruction->encoding == ZYDIS_INSTRUCTION_ENCODING_EVEX ||
        has_short_addresses(candidate) || operand->segment == ZYDIS_REGISTER_FS)
        return false;
    candidate->bytes[instruction->raw.disp.offset] =
        (uint8_t)(-64 - 8 * (int)random_below(random, 9));
    return true;
}

static bool place_with_base(struct candidate *candidate, struct code *code,
                            const ZydisDecodedOperandMem *operand, uint64_t place)
{
    uint64_t base = place - (uint64_t)operand->disp.value;
    if (operand->index != ZYDIS_REGISTER_NONE) {
        int index = general(operand->index);
        bool same = index >= 0 && index == general(operand->base);
        if (same)
            return false;
        uint64_t value = candidate->bytes[20] & 31;
        base -= index < 0 ? 0 : value * operand->scale;
        if (index < 0)
            clear_vector(code, operand->index);
        else if (!set_register(candidate, code, index, value))
            return false;
    }
    return set_register(candidate, code, general(operand->base), base);
}

static bool place_memory(struct candidate *candidate, struct code *code,
                         const ZydisDecodedOperandMem *operand, struct random *random)
{
    uint64_t address = candidate->data + ARENA + 0x400 + random_below(random, 32) * 64;
    if (random_percent(random, 30))
        address += random_below(random, 64);
    if (has_short_addresses(candidate) && address > UINT32_MAX)
        return false;
    uint64_t place = address - segment_base(candidate, operand->segment);
    if (operand->base == ZYDIS_REGISTER_RSP || operand->base == ZYDIS_REGISTER_ESP)
        return place_in_red_zone(candidate, operand, random);
    if (operand->base != ZYDIS_REGISTER_NONE && operand->base != ZYDIS_REGISTER_RIP &&
        operand->base != ZYDIS_REGISTER_EIP)
        return place_with_base(candidate, code, operand, place);
    if (operand->index != ZYDIS_REGISTER_NONE)
        return false;
    bool relative = operand->base != ZYDIS_REGISTER_NONE;
    bool fits = candidate->instruction.raw.disp.size == 64 || place == (uint64_t)(int32_t)place;
    if (relative ? place != address : !fits)
        return false;
    candidate->place = place;
    candidate->is_patched = true;
    return true;
}

/* The displacement of an operand relative to RIP, or of an absolute one. */
static void patch_displacement(struct candidate *candidate, const struct code *code)
{
    const ZydisDecodedInstruction *instruction = &candidate->instruction;
    uint64_t value = candidate->place;
    if (instruction->attributes & ZYDIS_ATTRIB_IS_RELATIVE)
        value -= code_here(code) + instruction->length;
    memcpy(candidate->bytes + instruction->raw.disp.offset, &value,
           instruction->raw.disp.size / BITS_OF_BYTE);
}

/* What else an instruction needs in order not to fault, or to end soon. */
static bool prepare_others(struct candidate *candidate, struct code *code, struct random *random)
{
    const ZydisDecodedInstruction *instruction = &candidate->instruction;
    const ZydisDecodedOperand *operands = candidate->operands;
    if (instruction->attributes &
        (ZYDIS_ATTRIB_HAS_REP | ZYDIS_ATTRIB_HAS_REPE | ZYDIS_ATTRIB_HAS_REPNE))
        return set_register(candidate, code, RCX, random_below(random, 24));
    switch (instruction->mnemonic) {
    case ZYDIS_MNEMONIC_BT:
    case ZYDIS_MNEMONIC_BTC:
    case ZYDIS_MNEMONIC_BTR:
    case ZYDIS_MNEMONIC_BTS:
        if (operands[0].type != ZYDIS_OPERAND_TYPE_MEMORY ||
            operands[1].type != ZYDIS_OPERAND_TYPE_REGISTER)
            return true;
        return general(operands[0].mem.base) != general(operands[1].reg.value) &&
               general(operands[0].mem.index) != general(operands[1].reg.value) &&
               set_register(candidate, code, general(operands[1].reg.value),
                            random_below(random, 500));
    case ZYDIS_MNEMONIC_DIV:
    case ZYDIS_MNEMONIC_IDIV:
        return set_register(candidate, code, RDX, 0);
    case ZYDIS_MNEMONIC_CLZERO:
        return set_register(candidate, code, RAX,
                            candidate->data + ARENA + 0x400 + random_below(random, 32) * 64);
    default:
        return true;
    }
}

static bool prepare(struct candidate *candidate, struct code *code, struct random *random)
{
    candidate->is_patched = false;
    for (size_t i = 0; i < candidate->instruction.operand_count; i++) {
        const ZydisDecodedOperand *operand = &candidate->operands[i];
        if (operand->type == ZYDIS_OPERAND_TYPE_MEMORY &&
            operand->mem.type != ZYDIS_MEMOP_TYPE_AGEN &&
            !place_memory(candidate, code, &operand->mem, random))
            return false;
    }
    if (!prepare_others(candidate, code, random))
        return false;
    if (candidate->is_patched)
        patch_displacement(candidate, code);
    return true;
}

static bool make(struct candidate *candidate, struct random *random)
{
    ZydisDecoder decoder;
    ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
    make_encoding(candidate->bytes, random);
    return ZYAN_SUCCESS(ZydisDecoderDecodeFull(&decoder, candidate->bytes, LONGEST,
                                               &candidate->instruction, candidate->operands));
}

void instruction_add(struct code *code, struct random *random, uint64_t data, unsigned reserved)
{
    for (;;) {
        struct candidate candidate = {.data = data, .reserved = reserved};
        size_t before = code->size;
        if (!make(&candidate, random) || !is_usable(&candidate))
            continue;
        if (prepare(&candidate, code, random)) {
            code_put(code, candidate.bytes, candidate.instruction.length);
            return;
        }
        code->size = before;
    }
}
