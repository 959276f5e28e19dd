#include "flow/branch.h"

#include <Zydis/Zydis.h>

static enum branch_kind kind_of(const ZydisDecodedInstruction *instruction)
{
    bool is_far = instruction->meta.branch_type == ZYDIS_BRANCH_TYPE_FAR;
    switch (instruction->meta.category) {
    case ZYDIS_CATEGORY_COND_BR:
        return BRANCH_CONDITIONAL;
    case ZYDIS_CATEGORY_UNCOND_BR:
        return is_far ? BRANCH_FAR_JUMP : BRANCH_JUMP;
    case ZYDIS_CATEGORY_CALL:
        return is_far ? BRANCH_FAR_CALL : BRANCH_CALL;
    case ZYDIS_CATEGORY_RET:
        if (instruction->mnemonic == ZYDIS_MNEMONIC_RET && !is_far)
            return BRANCH_RETURN;
        return BRANCH_FAR_RETURN;
    case ZYDIS_CATEGORY_SYSCALL:
    case ZYDIS_CATEGORY_INTERRUPT:
        return BRANCH_FAR_CALL;
    case ZYDIS_CATEGORY_SYSRET:
        return BRANCH_FAR_RETURN;
    default:
        return BRANCH_NONE;
    }
}

struct branch branch_classify(const uint8_t *bytes, size_t size, bool wide)
{
    struct branch branch = {.kind = BRANCH_NONE};
    ZydisDecoder decoder;
    ZydisDecoderInit(&decoder, wide ? ZYDIS_MACHINE_MODE_LONG_64 : ZYDIS_MACHINE_MODE_LEGACY_32,
                     wide ? ZYDIS_STACK_WIDTH_64 : ZYDIS_STACK_WIDTH_32);
    ZydisDecodedInstruction instruction;
    if (!ZYAN_SUCCESS(ZydisDecoderDecodeInstruction(&decoder, NULL, bytes, size, &instruction)))
        return branch;
    branch.kind = kind_of(&instruction);
    branch.length = instruction.length;
    branch.direct = instruction.raw.imm[0].is_relative;
    branch.reads_own_address =
        branch.kind == BRANCH_CALL && branch.direct && instruction.raw.imm[0].value.s == 0;
    return branch;
}
