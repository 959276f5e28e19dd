#include "runtime/qemu_plugin/block_cost.h"

#include "runtime/qemu_plugin/block_weights.h"

#include <Zydis/Zydis.h>
#include <stdbool.h>

enum { VECTOR_BITS = 128 }; /* qemu splits operands of this size and more */

/* One instruction, as Zydis sees it. */
struct instruction {
    ZydisDecodedInstruction decoded;
    ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
    bool vector; /* the operands are decoded: SSE, AVX and their like */
};

static bool is_vector(const ZydisDecodedInstruction *decoded)
{
    switch (decoded->meta.isa_ext) {
    case ZYDIS_ISA_EXT_MMX:
    case ZYDIS_ISA_EXT_SSE:
    case ZYDIS_ISA_EXT_SSE2:
    case ZYDIS_ISA_EXT_SSE3:
    case ZYDIS_ISA_EXT_SSSE3:
    case ZYDIS_ISA_EXT_SSE4:
    case ZYDIS_ISA_EXT_AES:
    case ZYDIS_ISA_EXT_PCLMULQDQ:
    case ZYDIS_ISA_EXT_AVX:
    case ZYDIS_ISA_EXT_AVX2:
    case ZYDIS_ISA_EXT_AVX2GATHER:
    case ZYDIS_ISA_EXT_AVXAES:
    case ZYDIS_ISA_EXT_F16C:
    case ZYDIS_ISA_EXT_FMA:
        return true;
    default:
        return false;
    }
}

static bool decode(const ZydisDecoder *decoder, struct instruction *instruction,
                   const uint8_t *bytes, size_t size)
{
    ZydisDecoderContext context;
    ZydisDecodedInstruction *decoded = &instruction->decoded;
    if (!ZYAN_SUCCESS(ZydisDecoderDecodeInstruction(decoder, &context, bytes, size, decoded)))
        return false;
    instruction->vector =
        is_vector(decoded) &&
        ZYAN_SUCCESS(ZydisDecoderDecodeOperands(decoder, &context, decoded, instruction->operands,
                                                decoded->operand_count_visible));
    return true;
}

static bool reads_or_writes_memory(const ZydisDecodedInstruction *decoded)
{
    bool has_address =
        (decoded->attributes & ZYDIS_ATTRIB_HAS_MODRM) && decoded->raw.modrm.mod != 3;
    return has_address && decoded->mnemonic != ZYDIS_MNEMONIC_LEA &&
           decoded->meta.category != ZYDIS_CATEGORY_NOP &&
           decoded->meta.category != ZYDIS_CATEGORY_WIDENOP;
}

static bool shifts_by_register(const ZydisDecodedInstruction *decoded)
{
    return decoded->opcode == 0xd2 || decoded->opcode == 0xd3;
}

static unsigned integer_weight(const ZydisDecodedInstruction *decoded)
{
    switch (decoded->mnemonic) {
    case ZYDIS_MNEMONIC_MUL:
    case ZYDIS_MNEMONIC_IMUL:
    case ZYDIS_MNEMONIC_MULX:
        return WEIGHT_MULTIPLICATION;
    case ZYDIS_MNEMONIC_DIV:
    case ZYDIS_MNEMONIC_IDIV:
        return WEIGHT_DIVISION;
    case ZYDIS_MNEMONIC_ADC:
    case ZYDIS_MNEMONIC_SBB:
    case ZYDIS_MNEMONIC_RCL:
    case ZYDIS_MNEMONIC_RCR:
        return WEIGHT_CARRY;
    case ZYDIS_MNEMONIC_PUSHFQ:
    case ZYDIS_MNEMONIC_POPFQ:
        return WEIGHT_FLAGS;
    default:
        break;
    }
    switch (decoded->meta.category) {
    case ZYDIS_CATEGORY_SHIFT:
    case ZYDIS_CATEGORY_ROTATE:
        return shifts_by_register(decoded) ? WEIGHT_VARIABLE_SHIFT : WEIGHT_SIMPLE;
    case ZYDIS_CATEGORY_BITBYTE:
        return WEIGHT_BIT;
    case ZYDIS_CATEGORY_SYSTEM:
    case ZYDIS_CATEGORY_XSAVE:
    case ZYDIS_CATEGORY_XSAVEOPT:
        return WEIGHT_SYSTEM;
    case ZYDIS_CATEGORY_X87_ALU:
    case ZYDIS_CATEGORY_FCMOV:
        return WEIGHT_X87;
    case ZYDIS_CATEGORY_PUSH:
    case ZYDIS_CATEGORY_POP:
        return WEIGHT_SIMPLE + WEIGHT_MEMORY;
    case ZYDIS_CATEGORY_CALL:
    case ZYDIS_CATEGORY_UNCOND_BR:
        return decoded->raw.imm[0].is_relative ? WEIGHT_SIMPLE : WEIGHT_INDIRECT;
    case ZYDIS_CATEGORY_RET:
        return WEIGHT_RETURN;
    default:
        return WEIGHT_SIMPLE;
    }
}

/* Numbers that a floating-point operation computes; 0 for other instructions. */
static unsigned floating_lanes(const struct instruction *instruction)
{
    unsigned lanes = 0;
    for (unsigned i = 0; i < instruction->decoded.operand_count_visible; i++) {
        const ZydisDecodedOperand *operand = &instruction->operands[i];
        bool floating = operand->element_type == ZYDIS_ELEMENT_TYPE_FLOAT32 ||
                        operand->element_type == ZYDIS_ELEMENT_TYPE_FLOAT64;
        if (floating && (lanes == 0 || operand->element_count < lanes))
            lanes = operand->element_count;
    }
    return lanes;
}

static bool loads_vector(const struct instruction *instruction)
{
    for (unsigned i = 0; i < instruction->decoded.operand_count_visible; i++) {
        const ZydisDecodedOperand *operand = &instruction->operands[i];
        if (operand->type == ZYDIS_OPERAND_TYPE_MEMORY && operand->size >= VECTOR_BITS &&
            (operand->actions & ZYDIS_OPERAND_ACTION_MASK_READ))
            return true;
    }
    return false;
}

/* Moves that compute nothing, though Zydis puts them among floating-point operations. */
static bool rearranges(ZydisMnemonic mnemonic)
{
    switch (mnemonic) {
    case ZYDIS_MNEMONIC_SHUFPS:
    case ZYDIS_MNEMONIC_SHUFPD:
    case ZYDIS_MNEMONIC_UNPCKLPS:
    case ZYDIS_MNEMONIC_UNPCKLPD:
    case ZYDIS_MNEMONIC_UNPCKHPS:
    case ZYDIS_MNEMONIC_UNPCKHPD:
    case ZYDIS_MNEMONIC_VSHUFPS:
    case ZYDIS_MNEMONIC_VSHUFPD:
    case ZYDIS_MNEMONIC_VUNPCKLPS:
    case ZYDIS_MNEMONIC_VUNPCKLPD:
    case ZYDIS_MNEMONIC_VUNPCKHPS:
    case ZYDIS_MNEMONIC_VUNPCKHPD:
    case ZYDIS_MNEMONIC_VPERMILPS:
    case ZYDIS_MNEMONIC_VPERMILPD:
    case ZYDIS_MNEMONIC_VPERM2F128:
    case ZYDIS_MNEMONIC_VINSERTF128:
    case ZYDIS_MNEMONIC_VEXTRACTF128:
    case ZYDIS_MNEMONIC_BLENDVPS:
    case ZYDIS_MNEMONIC_BLENDVPD:
    case ZYDIS_MNEMONIC_BLENDPS:
    case ZYDIS_MNEMONIC_BLENDPD:
        return true;
    default:
        return false;
    }
}

/* Integer operations that qemu does byte by byte, or number by number. */
static unsigned integer_lanes_weight(ZydisMnemonic mnemonic)
{
    switch (mnemonic) {
    case ZYDIS_MNEMONIC_PSHUFB:
    case ZYDIS_MNEMONIC_VPSHUFB:
        return WEIGHT_BYTE_SHUFFLE;
    case ZYDIS_MNEMONIC_PSLLDQ:
    case ZYDIS_MNEMONIC_PSRLDQ:
    case ZYDIS_MNEMONIC_VPSLLDQ:
    case ZYDIS_MNEMONIC_VPSRLDQ:
    case ZYDIS_MNEMONIC_PALIGNR:
    case ZYDIS_MNEMONIC_VPALIGNR:
        return WEIGHT_BYTE_SHIFT;
    default:
        return WEIGHT_VECTOR;
    }
}

static unsigned vector_weight(const struct instruction *instruction)
{
    const ZydisDecodedInstruction *decoded = &instruction->decoded;
    unsigned lanes = floating_lanes(instruction);
    switch (decoded->meta.category) {
    case ZYDIS_CATEGORY_DATAXFER:
    case ZYDIS_CATEGORY_BROADCAST:
        return reads_or_writes_memory(decoded) ? WEIGHT_SIMPLE : WEIGHT_VECTOR_MOVE;
    case ZYDIS_CATEGORY_LOGICAL:
    case ZYDIS_CATEGORY_LOGICAL_FP:
        return WEIGHT_VECTOR;
    default:
        break;
    }
    if (lanes && !rearranges(decoded->mnemonic))
        return (lanes + 1) * WEIGHT_FLOATING;
    return integer_lanes_weight(decoded->mnemonic);
}

static unsigned weight_of(const struct instruction *instruction)
{
    const ZydisDecodedInstruction *decoded = &instruction->decoded;
    unsigned weight = instruction->vector ? vector_weight(instruction) : integer_weight(decoded);
    if (instruction->vector && loads_vector(instruction))
        weight += WEIGHT_VECTOR_LOAD;
    else if (reads_or_writes_memory(decoded))
        weight += WEIGHT_MEMORY;
    return weight;
}

uint32_t block_cost(const uint8_t *bytes, const uint8_t *length, size_t count)
{
    ZydisDecoder decoder;
    ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
    uint32_t weight = WEIGHT_BLOCK;
    for (size_t i = 0; i < count; i++) {
        struct instruction instruction;
        bool known = decode(&decoder, &instruction, bytes, length[i]);
        weight += known ? weight_of(&instruction) : WEIGHT_SIMPLE;
        bytes += length[i];
    }
    return (weight + WEIGHTS_PER_UNIT / 2) / WEIGHTS_PER_UNIT;
}
