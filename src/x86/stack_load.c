#include "x86/stack_load.h"

#include "x86/decode.h"

#include <Zydis/Zydis.h>

enum {
    LONGEST_OPCODE_OFFSET = 5, /* bytes: one prefix of each of four groups, and REX */
};

/* Registers that a called function preserves (System V ABI). */
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

/* The opcode and perhaps its ModRM byte rule out nearly all instructions. */
static bool may_load(uint8_t opcode, uint8_t modrm)
{
    enum { TO_REG = 0x38, REG_IS_4 = 0x20, TO_OPERAND = 0xc7, OPERAND_IS_4 = 0xc4 };
    switch (opcode) {
    case 0x5c: /* pop */
    case 0x87: /* xchg */
    case 0x94: /* xchg with %rax */
    case 0xbc: /* mov from an immediate */
        return true;
    case 0x8b: /* mov */
        return (modrm & TO_REG) == REG_IS_4;
    case 0x20: /* mov from a control register; 0x21: from a debug register */
    case 0x21:
    case 0x89: /* mov from a register */
    case 0x8c: /* from a segment register */
    case 0x8f: /* pop */
    case 0xc7: /* mov from an immediate */
        return (modrm & TO_OPERAND) == OPERAND_IS_4;
    default:
        return false;
    }
}

/* Decodes the operands only of instructions that can be loads. */
bool x86_is_stack_load(const uint8_t *bytes, size_t size)
{
    ZydisDecoder decoder;
    ZydisDecodedInstruction decoded;
    ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
    bool may = false;
    for (size_t i = 0; i < size && i <= LONGEST_OPCODE_OFFSET && !may; i++)
        may = may_load(bytes[i], i + 1 < size ? bytes[i + 1] : 0);
    if (x86_adds_to_stack_pointer(bytes, size))
        return true;
    if (!may)
        return false;
    ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
    return ZYAN_SUCCESS(ZydisDecoderDecodeFull(&decoder, bytes, size, &decoded, operands)) &&
           is_load(&decoded, operands);
}

bool x86_is_stack_save(const uint8_t *bytes, size_t size)
{
    ZydisDecoder decoder;
    ZydisDecodedInstruction decoded;
    ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
    enum { MOV_FROM_REG = 0x89 };
    if (size < 3 || bytes[1] != MOV_FROM_REG)
        return false;
    ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
    if (!ZYAN_SUCCESS(ZydisDecoderDecodeFull(&decoder, bytes, size, &decoded, operands)) ||
        !is_stack_pointer(&operands[1]))
        return false;
    const ZydisDecodedOperand *to = &operands[0];
    if (to->type == ZYDIS_OPERAND_TYPE_REGISTER)
        return !is_preserved(to->reg.value);
    return to->mem.base != ZYDIS_REGISTER_RSP && to->mem.base != ZYDIS_REGISTER_RBP;
}

/* The instruction at `address`. */
static bool decode(const struct x86_code *code, uint64_t address,
                   struct x86_instruction *instruction)
{
    uint64_t offset = address - code->address;
    return address >= code->address && offset < code->size &&
           x86_decode(instruction, code->bytes + offset, code->size - offset, address, X86_MODE_64);
}

enum { NO_REGISTER = 16, REX_B = 0x41 };

/* The register whose number is the lowest three bits of the opcode's last byte, if that lies in `group`, the first of eight. */
static unsigned register_of(const uint8_t *bytes, const uint8_t *last, uint8_t group)
{
    return (*last & 0xf8) != group ? NO_REGISTER : (*last & 7) + (*bytes == REX_B ? 8 : 0);
}

/* The register into which the instruction pops; NO_REGISTER: it is no such one. */
static unsigned popped_register(const uint8_t *bytes, size_t size)
{
    return size == (*bytes == REX_B ? 2u : 1u) ? register_of(bytes, bytes + size - 1, 0x58)
                                               : NO_REGISTER;
}

/* The register through which it jumps. */
static unsigned jump_register(const uint8_t *bytes, size_t size)
{
    bool jumps = size == (*bytes == REX_B ? 3u : 2u) && bytes[size - 2] == 0xff;
    return jumps ? register_of(bytes, bytes + size - 1, 0xe0) : NO_REGISTER;
}

/* True when the instruction moves the stack pointer and nothing else. */
static bool sets_stack_pointer(const uint8_t *bytes, size_t size)
{
    ZydisDecoder decoder;
    ZydisDecodedInstruction decoded;
    ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
    ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
    return ZYAN_SUCCESS(ZydisDecoderDecodeFull(&decoder, bytes, size, &decoded, operands)) &&
           decoded.operand_count_visible == 2 && is_stack_pointer(&operands[0]);
}

bool x86_loads_stack(const struct x86_code *code, uint64_t first, uint64_t last)
{
    struct x86_instruction instruction;
    if (!decode(code, last, &instruction) ||
        (instruction.flow != X86_INDIRECT_JUMP && instruction.flow != X86_JUMP))
        return false;
    unsigned jump = jump_register(code->bytes + (last - code->address), instruction.length);
    unsigned popped = NO_REGISTER; /* and not changed since */
    for (; first < last && decode(code, first, &instruction); first += instruction.length) {
        const uint8_t *bytes = code->bytes + (first - code->address);
        unsigned reg = popped_register(bytes, instruction.length);
        if (x86_is_stack_load(bytes, instruction.length))
            return true;
        if (reg != NO_REGISTER || !sets_stack_pointer(bytes, instruction.length))
            popped = reg;
    }
    return popped != NO_REGISTER && popped == jump;
}
