#include "x86/decode.h"

#include "x86/usual_instruction.h"

#include <Zydis/Zydis.h>

enum {
    LOCK_PREFIX = 0xf0,
    XCHG_BYTE = 0x86,
    XCHG = 0x87,
    GROUP_15 = 0xae,           /* after 0f: MFENCE and others */
    LONGEST_OPCODE_OFFSET = 5, /* bytes: one prefix of each of four groups, and REX */
};

static enum x86_flow direct_or_indirect(const ZydisDecodedInstruction *decoded,
                                        enum x86_flow direct, enum x86_flow indirect)
{
    return decoded->raw.imm[0].is_relative ? direct : indirect;
}

/* Zydis counts these among the branches, but they branch only when a transaction aborts. */
static bool is_transactional(const ZydisDecodedInstruction *decoded)
{
    return decoded->mnemonic == ZYDIS_MNEMONIC_XBEGIN ||
           decoded->mnemonic == ZYDIS_MNEMONIC_XABORT || decoded->mnemonic == ZYDIS_MNEMONIC_XEND;
}

static enum x86_flow flow_of(const ZydisDecodedInstruction *decoded)
{
    if (decoded->attributes &
        (ZYDIS_ATTRIB_HAS_REP | ZYDIS_ATTRIB_HAS_REPE | ZYDIS_ATTRIB_HAS_REPNE))
        return X86_REPEAT;
    if (is_transactional(decoded))
        return X86_SEQUENTIAL;
    bool far = decoded->meta.branch_type == ZYDIS_BRANCH_TYPE_FAR;
    switch (decoded->mnemonic) {
    case ZYDIS_MNEMONIC_VMLAUNCH:
    case ZYDIS_MNEMONIC_VMRESUME:
    case ZYDIS_MNEMONIC_UIRET:
        return X86_FAR_RETURN;
    case ZYDIS_MNEMONIC_VMCALL:
        return X86_FAR_CALL;
    default:
        break;
    }
    switch (decoded->meta.category) {
    case ZYDIS_CATEGORY_COND_BR:
        return X86_CONDITIONAL;
    case ZYDIS_CATEGORY_UNCOND_BR:
        return far ? X86_FAR_JUMP : direct_or_indirect(decoded, X86_JUMP, X86_INDIRECT_JUMP);
    case ZYDIS_CATEGORY_CALL:
        return far ? X86_FAR_CALL : direct_or_indirect(decoded, X86_CALL, X86_INDIRECT_CALL);
    case ZYDIS_CATEGORY_RET:
        return !far && decoded->mnemonic == ZYDIS_MNEMONIC_RET ? X86_RETURN : X86_FAR_RETURN;
    case ZYDIS_CATEGORY_SYSRET:
        return X86_FAR_RETURN;
    case ZYDIS_CATEGORY_SYSCALL:
    case ZYDIS_CATEGORY_INTERRUPT:
        return X86_FAR_CALL;
    default:
        return X86_SEQUENTIAL;
    }
}

static bool is_direct(enum x86_flow flow)
{
    return flow == X86_CONDITIONAL || flow == X86_JUMP || flow == X86_CALL;
}

bool x86_decode(struct x86_instruction *instruction, const uint8_t *bytes, size_t size, uint64_t pc,
                enum x86_mode mode)
{
    static const ZydisMachineMode modes[] = {
        ZYDIS_MACHINE_MODE_LEGACY_16, ZYDIS_MACHINE_MODE_LEGACY_32, ZYDIS_MACHINE_MODE_LONG_64};
    static const ZydisStackWidth widths[] = {ZYDIS_STACK_WIDTH_16, ZYDIS_STACK_WIDTH_32,
                                             ZYDIS_STACK_WIDTH_64};
    if (mode == X86_MODE_64 && size >= X86_LONGEST_INSTRUCTION &&
        x86_decode_usual(instruction, bytes, pc))
        return true;
    ZydisDecoder decoder;
    ZydisDecodedInstruction decoded;
    ZydisDecoderInit(&decoder, modes[mode], widths[mode]);
    if (!ZYAN_SUCCESS(ZydisDecoderDecodeInstruction(&decoder, NULL, bytes, size, &decoded)))
        return false;
    *instruction = (struct x86_instruction){
        .flow = flow_of(&decoded),
        .length = decoded.length,
        .is_ptwrite = decoded.mnemonic == ZYDIS_MNEMONIC_PTWRITE,
    };
    if (is_direct(instruction->flow))
        instruction->target = pc + decoded.length + (uint64_t)decoded.raw.imm[0].value.s;
    if (mode != X86_MODE_64)
        instruction->target = (uint32_t)instruction->target;
    return true;
}

/* Called for each instruction; the first bytes rule out nearly all of them. */
static bool may_synchronise(const uint8_t *bytes, size_t size)
{
    for (size_t i = 0; i < size && i <= LONGEST_OPCODE_OFFSET; i++)
        if (bytes[i] == LOCK_PREFIX || bytes[i] == XCHG_BYTE || bytes[i] == XCHG ||
            bytes[i] == GROUP_15)
            return true;
    return false;
}

bool x86_synchronises(const uint8_t *bytes, size_t size)
{
    if (!may_synchronise(bytes, size))
        return false;
    ZydisDecoder decoder;
    ZydisDecodedInstruction decoded;
    ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
    if (!ZYAN_SUCCESS(ZydisDecoderDecodeInstruction(&decoder, NULL, bytes, size, &decoded)))
        return false;
    if (decoded.mnemonic == ZYDIS_MNEMONIC_XCHG)
        return (decoded.attributes & ZYDIS_ATTRIB_HAS_MODRM) && decoded.raw.modrm.mod != 3;
    return decoded.mnemonic == ZYDIS_MNEMONIC_MFENCE ||
           (decoded.attributes & ZYDIS_ATTRIB_HAS_LOCK) != 0;
}
