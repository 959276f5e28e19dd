#include "zydis_view.h"

struct decoded {
    ZydisDecodedInstruction instruction;
    ZydisDecoderContext context;
    ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
};

static bool reads(const ZydisDecodedOperand *operand)
{
    return operand->actions & ZYDIS_OPERAND_ACTION_MASK_READ;
}

static bool writes(const ZydisDecodedOperand *operand)
{
    return operand->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE;
}

/* A general register as a set, others as the empty set. */
static uint16_t set_of(ZydisRegister reg)
{
    ZydisRegister whole = ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, reg);
    if (ZydisRegisterGetClass(whole) != ZYDIS_REGCLASS_GPR64)
        return 0;
    return (uint16_t)(1u << ZydisRegisterGetId(whole));
}

/* ---- kind ---- */

static bool is_direct(const struct decoded *decoded)
{
    return decoded->instruction.raw.imm[0].is_relative;
}

static bool is_segment_gs(const ZydisDecodedOperand *operand)
{
    return operand->type == ZYDIS_OPERAND_TYPE_REGISTER &&
           operand->reg.value == ZYDIS_REGISTER_GS && writes(operand);
}

static bool changes_gs(const struct decoded *decoded)
{
    for (size_t i = 0; i < decoded->instruction.operand_count; i++)
        if (is_segment_gs(&decoded->operands[i]))
            return true;
    return decoded->instruction.mnemonic == ZYDIS_MNEMONIC_WRGSBASE ||
           decoded->instruction.mnemonic == ZYDIS_MNEMONIC_SWAPGS;
}

static enum tr_kind kind_by_category(const struct decoded *decoded)
{
    const ZydisDecodedInstruction *instruction = &decoded->instruction;
    bool is_far = instruction->meta.branch_type == ZYDIS_BRANCH_TYPE_FAR;
    switch (instruction->meta.category) {
    case ZYDIS_CATEGORY_COND_BR:
        return (instruction->opcode & 0xfc) == 0xe0 &&
                       instruction->opcode_map == ZYDIS_OPCODE_MAP_DEFAULT
                   ? TR_LOOP
                   : TR_CONDITIONAL;
    case ZYDIS_CATEGORY_UNCOND_BR:
        return is_far ? TR_FAR : is_direct(decoded) ? TR_JUMP : TR_INDIRECT_JUMP;
    case ZYDIS_CATEGORY_CALL:
        return is_far ? TR_FAR : is_direct(decoded) ? TR_CALL : TR_INDIRECT_CALL;
    case ZYDIS_CATEGORY_RET:
        return is_far || instruction->mnemonic != ZYDIS_MNEMONIC_RET ? TR_FAR : TR_RETURN;
    case ZYDIS_CATEGORY_INTERRUPT:
        return instruction->mnemonic == ZYDIS_MNEMONIC_INT &&
                       instruction->raw.imm[0].value.u == 0x80
                   ? TR_INT80
                   : TR_TRAP;
    default:
        return TR_PLAIN;
    }
}

/* Zydis does not say it of all of them. */
static bool is_privileged(const ZydisDecodedInstruction *instruction)
{
    switch (instruction->mnemonic) {
    case ZYDIS_MNEMONIC_CLGI:
    case ZYDIS_MNEMONIC_CLI:
    case ZYDIS_MNEMONIC_ENCLV:
    case ZYDIS_MNEMONIC_ENQCMDS:
    case ZYDIS_MNEMONIC_GETSEC:
    case ZYDIS_MNEMONIC_LGDT:
    case ZYDIS_MNEMONIC_RSM:
    case ZYDIS_MNEMONIC_SKINIT:
    case ZYDIS_MNEMONIC_STGI:
    case ZYDIS_MNEMONIC_STI:
    case ZYDIS_MNEMONIC_VMLOAD:
    case ZYDIS_MNEMONIC_VMRUN:
    case ZYDIS_MNEMONIC_VMSAVE:
    case ZYDIS_MNEMONIC_UD0:
    case ZYDIS_MNEMONIC_UD1:
    case ZYDIS_MNEMONIC_UD2:
        return true;
    default:
        return instruction->attributes & ZYDIS_ATTRIB_IS_PRIVILEGED;
    }
}

static enum tr_kind kind_of(const struct decoded *decoded)
{
    switch (decoded->instruction.mnemonic) {
    case ZYDIS_MNEMONIC_SYSCALL:
        return TR_SYSTEM_CALL;
    case ZYDIS_MNEMONIC_SYSENTER:
        return TR_INT80;
    case ZYDIS_MNEMONIC_XBEGIN:
        return TR_XBEGIN;
    case ZYDIS_MNEMONIC_XEND:
    case ZYDIS_MNEMONIC_XABORT:
        return TR_PLAIN;       /* they do nothing, or signal, where no transaction is */
    case ZYDIS_MNEMONIC_ENCLU: /* enters an enclave */
    case ZYDIS_MNEMONIC_UIRET:
        return TR_FAR;
    default:
        break;
    }
    if (changes_gs(decoded))
        return TR_GS_BASE;
    if (is_privileged(&decoded->instruction))
        return TR_TRAP;

    return kind_by_category(decoded);
}

/* ---- registers and memory ---- */

static bool is_stack(const ZydisDecodedOperand *operand)
{
    return operand->visibility != ZYDIS_OPERAND_VISIBILITY_EXPLICIT &&
           (operand->mem.base == ZYDIS_REGISTER_RSP || operand->mem.base == ZYDIS_REGISTER_RBP ||
            operand->mem.base == ZYDIS_REGISTER_EBP);
}

/* RSP becomes RSP plus or minus a constant, or is aligned. */
static bool adjusts_stack(const struct decoded *decoded)
{
    const ZydisDecodedOperand *second = &decoded->operands[1];
    if (decoded->operands[0].size != 64)
        return false;
    switch (decoded->instruction.mnemonic) {
    case ZYDIS_MNEMONIC_ADD:
    case ZYDIS_MNEMONIC_SUB:
    case ZYDIS_MNEMONIC_AND:
        return second->type == ZYDIS_OPERAND_TYPE_IMMEDIATE;
    case ZYDIS_MNEMONIC_INC:
    case ZYDIS_MNEMONIC_DEC:
        return true;
    case ZYDIS_MNEMONIC_LEA:
        return second->mem.base == ZYDIS_REGISTER_RSP && second->mem.index == ZYDIS_REGISTER_NONE;
    default:
        return false;
    }
}

static void see_register(struct tr_instruction *view, const struct decoded *decoded,
                         const ZydisDecodedOperand *operand)
{
    uint16_t set = set_of(operand->reg.value);
    bool is_partial =
        operand->size < 32 || (operand->actions & ZYDIS_OPERAND_ACTION_CONDWRITE) != 0;
    if (reads(operand) || (writes(operand) && is_partial))
        view->reads |= set;
    if (!writes(operand))
        return;
    view->writes |= set;
    if (set == 1 << 4 && operand->visibility == ZYDIS_OPERAND_VISIBILITY_EXPLICIT &&
        !adjusts_stack(decoded))
        view->properties |= TR_LOADS_STACK;
}

/* Zydis 4.0 sees R13 where a 67 prefix and REX.B meet a SIB byte without a base. */
static bool has_base(const struct decoded *decoded)
{
    enum { SIB = 4, NO_BASE = 5 };
    const ZydisDecodedInstruction *instruction = &decoded->instruction;
    return !(instruction->attributes & ZYDIS_ATTRIB_HAS_SIB) || instruction->raw.modrm.mod != 0 ||
           instruction->raw.sib.base != NO_BASE;
}

static bool is_string(const struct decoded *decoded)
{
    return decoded->instruction.meta.category == ZYDIS_CATEGORY_STRINGOP ||
           decoded->instruction.meta.category == ZYDIS_CATEGORY_IOSTRINGOP;
}

/* A NOP's operands are not accessed; but 0F 18, which has turned into prefetches more than once. */
static bool is_nop(const ZydisDecodedInstruction *instruction)
{
    enum { PREFETCHES = 0x18 };
    return (instruction->mnemonic == ZYDIS_MNEMONIC_NOP && instruction->opcode != PREFETCHES) ||
           instruction->mnemonic == ZYDIS_MNEMONIC_CLDEMOTE;
}

static void see_memory(struct tr_instruction *view, const struct decoded *decoded,
                       const ZydisDecodedOperand *operand)
{
    bool is_access =
        operand->mem.type == ZYDIS_MEMOP_TYPE_MEM || operand->mem.type == ZYDIS_MEMOP_TYPE_VSIB;
    if (is_nop(&decoded->instruction))
        is_access = false;

    view->reads |= set_of(operand->mem.index);
    if (has_base(decoded))
        view->reads |= set_of(operand->mem.base);
    if (is_stack(operand))
        return;
    if (is_string(decoded))
        view->writes |= set_of(operand->mem.base);

    if (operand->mem.base == ZYDIS_REGISTER_RIP || operand->mem.base == ZYDIS_REGISTER_EIP)
        view->properties |= TR_RIP_RELATIVE;
    if (decoded->instruction.address_width == 32)
        view->properties |= TR_ADDRESS_32;
    if (!is_access)
        return;
    if (operand->visibility == ZYDIS_OPERAND_VISIBILITY_EXPLICIT)
        view->properties |= TR_MEMORY;
    if (operand->mem.segment == ZYDIS_REGISTER_GS)
        view->properties |= TR_GS_OPERAND;
    if (operand->mem.segment == ZYDIS_REGISTER_FS)
        view->properties |= TR_FS_OPERAND;
    if (writes(operand))
        view->properties |= TR_WRITES_MEMORY;
}

static void see_operands(struct tr_instruction *view, const struct decoded *decoded)
{
    for (size_t i = 0; i < decoded->instruction.operand_count; i++) {
        const ZydisDecodedOperand *operand = &decoded->operands[i];
        if (operand->type == ZYDIS_OPERAND_TYPE_REGISTER &&
            decoded->instruction.mnemonic != ZYDIS_MNEMONIC_NOP)
            see_register(view, decoded, operand);
        else if (operand->type == ZYDIS_OPERAND_TYPE_MEMORY)
            see_memory(view, decoded, operand);
    }
}

/* ---- flags ---- */

static uint8_t flags_of(ZydisAccessedFlagsMask mask)
{
    return (uint8_t)((mask & ZYDIS_CPUFLAG_CF ? TR_CF : 0) | (mask & ZYDIS_CPUFLAG_PF ? TR_PF : 0) |
                     (mask & ZYDIS_CPUFLAG_AF ? TR_AF : 0) | (mask & ZYDIS_CPUFLAG_ZF ? TR_ZF : 0) |
                     (mask & ZYDIS_CPUFLAG_SF ? TR_SF : 0) | (mask & ZYDIS_CPUFLAG_OF ? TR_OF : 0));
}

/* Zydis takes no notice of the count. */
static uint8_t flags_of_shift(const struct decoded *decoded, uint8_t written)
{
    const ZydisDecodedOperand *operands = decoded->operands;
    bool is_double = decoded->instruction.mnemonic == ZYDIS_MNEMONIC_SHLD ||
                     decoded->instruction.mnemonic == ZYDIS_MNEMONIC_SHRD;
    const ZydisDecodedOperand *by = &operands[is_double ? 2 : 1];
    bool is_through_carry = decoded->instruction.mnemonic == ZYDIS_MNEMONIC_RCL ||
                            decoded->instruction.mnemonic == ZYDIS_MNEMONIC_RCR;
    if (by->type != ZYDIS_OPERAND_TYPE_IMMEDIATE)
        return 0;
    unsigned count = by->imm.value.u & (operands[0].size == 64 ? 63 : 31);
    if (count == 0 || (is_double && count > operands[0].size) ||
        (is_through_carry && decoded->instruction.raw.imm[0].size))
        return 0;
    written |= count == 1 ? TR_OF : 0;
    return count < operands[0].size ? written : written & (uint8_t)~TR_CF;
}

/* What Zydis 4.0 says wrongly, or other than the contract. */
static uint8_t flags_written(const struct decoded *decoded, uint8_t written)
{
    switch (decoded->instruction.mnemonic) {
    case ZYDIS_MNEMONIC_BEXTR:
        return TR_CF | TR_ZF | TR_OF;
    case ZYDIS_MNEMONIC_AND: /* AF is undefined to Zydis */
    case ZYDIS_MNEMONIC_OR:
    case ZYDIS_MNEMONIC_XOR:
    case ZYDIS_MNEMONIC_TEST:
    case ZYDIS_MNEMONIC_SBB:
    case ZYDIS_MNEMONIC_TESTUI:
    case ZYDIS_MNEMONIC_VPTEST:
    case ZYDIS_MNEMONIC_VTESTPS:
    case ZYDIS_MNEMONIC_VTESTPD:
        return TR_ALL_FLAGS;
    case ZYDIS_MNEMONIC_FCOMI: /* the manuals disagree on the others */
    case ZYDIS_MNEMONIC_FCOMIP:
    case ZYDIS_MNEMONIC_FUCOMI:
    case ZYDIS_MNEMONIC_FUCOMIP:
        return TR_CF | TR_PF | TR_ZF;
    case ZYDIS_MNEMONIC_LZCNT: /* BSF and BSR to older processors */
    case ZYDIS_MNEMONIC_TZCNT:
        return TR_ZF;
    case ZYDIS_MNEMONIC_ROL:
    case ZYDIS_MNEMONIC_ROR:
    case ZYDIS_MNEMONIC_RCL:
    case ZYDIS_MNEMONIC_RCR:
    case ZYDIS_MNEMONIC_SHL:
    case ZYDIS_MNEMONIC_SHR:
    case ZYDIS_MNEMONIC_SAR:
    case ZYDIS_MNEMONIC_SHLD:
    case ZYDIS_MNEMONIC_SHRD:
        return flags_of_shift(decoded, written);
    default:
        return written;
    }
}

static void see_flags(struct tr_instruction *view, const struct decoded *decoded)
{
    const ZydisAccessedFlags *flags = decoded->instruction.cpu_flags;
    if (!flags)
        return;

    view->flags_read = flags_of(flags->tested);
    view->flags_written =
        flags_of((flags->modified | flags->set_0 | flags->set_1) & ~flags->undefined);
    view->flags_written = flags_written(decoded, view->flags_written);
    if (view->properties & TR_REPEAT)
        view->flags_read = view->flags_written = 0;
    if (view->kind == TR_SYSTEM_CALL || view->kind == TR_INT80 || view->kind == TR_FAR ||
        view->kind == TR_XBEGIN) { /* the kernel, or a handler, sees the flags */
        view->flags_read = TR_ALL_FLAGS;
        view->flags_written = 0;
    }
}

/* Registers that Zydis does not name, or that keep what they hold in some cases. */
static void see_more_registers(struct tr_instruction *view, const struct decoded *decoded)
{
    enum { RAX = 1 << 0, R8 = 1 << 8 };
    switch (decoded->instruction.mnemonic) {
    case ZYDIS_MNEMONIC_BSF:
    case ZYDIS_MNEMONIC_BSR:
    case ZYDIS_MNEMONIC_LZCNT: /* BSR to older processors */
    case ZYDIS_MNEMONIC_TZCNT:
    case ZYDIS_MNEMONIC_RDSSPD: /* a NOP without shadow stacks */
    case ZYDIS_MNEMONIC_RDSSPQ:
        view->reads |= view->writes;
        break;
    case ZYDIS_MNEMONIC_LLWPCB:
    case ZYDIS_MNEMONIC_LWPINS:
    case ZYDIS_MNEMONIC_LWPVAL: /* their first operand, too, is read */
        view->reads |= view->writes;
        view->writes = 0;
        view->properties &= ~(uint32_t)TR_LOADS_STACK;

        break;
    case ZYDIS_MNEMONIC_SYSENTER: /* what it writes the kernel restores */
        view->writes = 0;
        break;
    case ZYDIS_MNEMONIC_PAUSE: /* with REX.B processors exchange */
        if (decoded->context.vector_unified.B)
            view->reads = view->writes = RAX | R8;
        break;
    case ZYDIS_MNEMONIC_ENQCMD: /* their first operand is an address */
    case ZYDIS_MNEMONIC_MOVDIR64B:
        view->properties |= TR_WRITES_MEMORY;
        break;
    default:
        break;
    }
    if (view->properties & TR_REPEAT)
        view->reads |= view->writes;
}

/* ---- the rest ---- */

static uint32_t other_properties(const struct decoded *decoded)
{
    const ZydisDecodedInstruction *instruction = &decoded->instruction;
    ZydisInstructionAttributes attributes = instruction->attributes;
    uint32_t properties = 0;
    if (attributes & ZYDIS_ATTRIB_HAS_MODRM)
        properties |= TR_HAS_MODRM | (decoded->context.vector_unified.B ? TR_EXTENDED_BASE : 0);
    if (attributes & (ZYDIS_ATTRIB_HAS_REP | ZYDIS_ATTRIB_HAS_REPE | ZYDIS_ATTRIB_HAS_REPNE))
        properties |= TR_REPEAT;
    if (instruction->encoding != ZYDIS_INSTRUCTION_ENCODING_LEGACY &&
        instruction->encoding != ZYDIS_INSTRUCTION_ENCODING_3DNOW)
        properties |= TR_VECTOR;
    if (attributes & ZYDIS_ATTRIB_HAS_LOCK)
        properties |= TR_SYNCHRONISES;
    switch (instruction->mnemonic) {
    case ZYDIS_MNEMONIC_PUSH:
    case ZYDIS_MNEMONIC_POP:
        if ((instruction->opcode & 0xf0) == 0x50 && decoded->operands[0].size == 64)
            properties |= TR_PUSH_POP;
        break;
    case ZYDIS_MNEMONIC_LEA:
        properties |= TR_LEA;
        break;
    case ZYDIS_MNEMONIC_XCHG:
        if ((attributes & ZYDIS_ATTRIB_HAS_MODRM) && instruction->raw.modrm.mod != 3)
            properties |= TR_SYNCHRONISES;
        break;
    case ZYDIS_MNEMONIC_MFENCE:
        properties |= TR_SYNCHRONISES;
        break;
    case ZYDIS_MNEMONIC_RDTSC:
    case ZYDIS_MNEMONIC_RDTSCP:
        properties |= TR_TIME_STAMP;
        break;
    case ZYDIS_MNEMONIC_RDGSBASE:
        properties |= TR_GS_OPERAND;
        break;
    case ZYDIS_MNEMONIC_JECXZ:
        properties |= TR_ADDRESS_32;
        break;
    case ZYDIS_MNEMONIC_LOOP:
    case ZYDIS_MNEMONIC_LOOPE:
    case ZYDIS_MNEMONIC_LOOPNE:
        if (instruction->address_width == 32)
            properties |= TR_ADDRESS_32;
        break;
    default:
        break;
    }
    return properties;
}

static uint8_t prefix_size(const ZydisDecodedInstruction *instruction)
{
    switch (instruction->encoding) {
    case ZYDIS_INSTRUCTION_ENCODING_VEX:
        return instruction->raw.vex.offset;
    case ZYDIS_INSTRUCTION_ENCODING_EVEX:
        return instruction->raw.evex.offset;
    case ZYDIS_INSTRUCTION_ENCODING_XOP:
        return instruction->raw.xop.offset;
    default:
        return instruction->attributes & ZYDIS_ATTRIB_HAS_REX ? instruction->raw.rex.offset
                                                              : instruction->raw.prefix_count;
    }
}

static void see_numbers(struct tr_instruction *view, const ZydisDecodedInstruction *instruction,
                        uint64_t pc)
{
    enum { BYTE = 8 };
    unsigned immediate_bits = (unsigned)instruction->raw.imm[0].size + instruction->raw.imm[1].size;
    uint64_t next = pc + instruction->length;
    if (instruction->attributes & ZYDIS_ATTRIB_HAS_MODRM)
        view->modrm_at = instruction->raw.modrm.offset;
    view->displacement_size = instruction->raw.disp.size / BYTE;
    if (view->displacement_size)
        view->displacement_at = instruction->raw.disp.offset;
    if (view->properties & TR_RIP_RELATIVE)
        view->target = next + (uint64_t)instruction->raw.disp.value;
    if ((view->properties & TR_RIP_RELATIVE) && (view->properties & TR_ADDRESS_32))
        view->target = (uint32_t)view->target;
    if (instruction->raw.imm[0].is_relative) {
        view->displacement_at = instruction->raw.imm[0].offset;
        view->displacement_size = (uint8_t)(immediate_bits / BYTE);
        view->target = next + (uint64_t)instruction->raw.imm[0].value.s;
    } else if (instruction->encoding == ZYDIS_INSTRUCTION_ENCODING_3DNOW) {
        view->immediate_at = instruction->length - 1; /* the second opcode byte */
        view->immediate_size = 1;
    } else if (immediate_bits) {
        view->immediate_at = instruction->raw.imm[0].offset;
        view->immediate_size = (uint8_t)(immediate_bits / BYTE);
    }
    if (view->kind == TR_RETURN && immediate_bits)
        view->pop_bytes = (uint16_t)instruction->raw.imm[0].value.u;
}

/* Zydis takes the unused encodings of VEX and EVEX for the first Xeon Phi's. */
static bool is_knights_corner(const ZydisDecodedInstruction *instruction)
{
    ZydisISAExt extension = instruction->meta.isa_ext;
    ZydisISASet set = instruction->meta.isa_set;
    return (extension >= ZYDIS_ISA_EXT_KNC && extension <= ZYDIS_ISA_EXT_KNCV) ||
           (set >= ZYDIS_ISA_SET_KNCE && set <= ZYDIS_ISA_SET_KNC_PF_HINT);
}

bool zydis_view(struct zydis_view *view, const uint8_t *bytes, size_t size, uint64_t pc)
{
    ZydisDecoder decoder;
    struct decoded decoded;
    ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
    if (!ZYAN_SUCCESS(ZydisDecoderDecodeInstruction(&decoder, &decoded.context, bytes, size,
                                                    &decoded.instruction)) ||
        !ZYAN_SUCCESS(ZydisDecoderDecodeOperands(&decoder, &decoded.context, &decoded.instruction,
                                                 decoded.operands, ZYDIS_MAX_OPERAND_COUNT)) ||
        is_knights_corner(&decoded.instruction))
        return false;
    struct tr_instruction *instruction = &view->instruction;
    *instruction = (struct tr_instruction){
        .length = decoded.instruction.length,
        .kind = (uint8_t)kind_of(&decoded),
        .condition = decoded.instruction.opcode & 15,
        .prefix_size = prefix_size(&decoded.instruction),
        .properties = other_properties(&decoded),
    };
    see_operands(instruction, &decoded);
    see_flags(instruction, &decoded);
    see_more_registers(instruction, &decoded);
    see_numbers(instruction, &decoded.instruction, pc);
    view->mnemonic = decoded.instruction.mnemonic;
    view->isa_extension = decoded.instruction.meta.isa_ext;
    return true;
}
