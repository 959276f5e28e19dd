#include "x86/stack_load.h"

#include <Zydis/Zydis.h>

/* Registers that a called function gives back as they were (System V ABI). */
static bool is_preserved(ZydisRegister reg)
{
    return reg == ZYDIS_REGISTER_RBX || reg == ZYDIS_REGISTER_RBP ||
           (reg >= ZYDIS_REGISTER_R12 && reg <= ZYDIS_REGISTER_R15);
}

static bool is_stack_pointer(const ZydisDecodedOperand *operand)
{
    return operand->type == ZYDIS_OPERAND_TYPE_REGISTER && operand->reg.value == ZYDIS_REGISTER_RSP;
}

static bool comes_from_elsewhere(const ZydisDecodedOperand *source)
{
    if (source->type == ZYDIS_OPERAND_TYPE_REGISTER)
        return !is_preserved(source->reg.value);
    return source->type == ZYDIS_OPERAND_TYPE_MEMORY && source->mem.base != ZYDIS_REGISTER_RBP;
}

static bool is_load(const ZydisDecodedInstruction *decoded, const ZydisDecodedOperand *operands)
{
    switch (decoded->mnemonic) {
    case ZYDIS_MNEMONIC_MOV:
        return is_stack_pointer(&operands[0]) && comes_from_elsewhere(&operands[1]);
    case ZYDIS_MNEMONIC_POP:
        return is_stack_pointer(&operands[0]);
    case ZYDIS_MNEMONIC_XCHG:
        return is_stack_pointer(&operands[0]) || is_stack_pointer(&operands[1]);
    default:
        return false;
    }
}

static bool is_indirect_jump(const ZydisDecodedInstruction *decoded)
{
    return decoded->mnemonic == ZYDIS_MNEMONIC_JMP &&
           decoded->meta.branch_type != ZYDIS_BRANCH_TYPE_FAR && !decoded->raw.imm[0].is_relative;
}

/* The instruction at `address`. */
static bool decode(const struct x86_code *code, uint64_t address, ZydisDecodedInstruction *decoded,
                   ZydisDecodedOperand *operands)
{
    ZydisDecoder decoder;
    ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
    uint64_t offset = address - code->address;
    return address >= code->address && offset < code->size &&
           ZYAN_SUCCESS(ZydisDecoderDecodeFull(&decoder, code->bytes + offset, code->size - offset,
                                               decoded, operands));
}

bool x86_loads_stack(const struct x86_code *code, uint64_t first, uint64_t last)
{
    ZydisDecodedInstruction decoded;
    ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
    if (!decode(code, last, &decoded, operands) || !is_indirect_jump(&decoded))
        return false;
    for (; first < last && decode(code, first, &decoded, operands); first += decoded.length)
        if (is_load(&decoded, operands))
            return true;
    return false;
}

bool x86_is_stack_load(const uint8_t *bytes, size_t size)
{
    ZydisDecodedInstruction decoded;
    ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
    return decode(&(struct x86_code){bytes, size, 0}, 0, &decoded, operands) &&
           is_load(&decoded, operands);
}
