#include "x86/trap_scan.h"

#include "x86/instruction.h"

#include <Zydis/Zydis.h>
#include <string.h>

enum { WORD = 8, TRAP_SIZE = 2 * WORD };

enum operation_kind { OTHER, MOVE, ADDRESS, PUSH, POP, ADD, JUMP, RETURN };

/* The parts of an instruction that matter here. */
struct operation {
    enum operation_kind kind;
    unsigned length; /* bytes */
    struct x86_place to, from;
    bool has_number; /* instead of `from` */
    int64_t number;
};

static bool same_place(const struct x86_place *left, const struct x86_place *right)
{
    return left->reg == right->reg && left->base == right->base && left->index == right->index &&
           left->scale == right->scale && left->displacement == right->displacement;
}

static struct x86_place a_register(ZydisRegister reg)
{
    return (struct x86_place){.reg = (uint16_t)reg};
}

/* Memory `displacement` bytes after the address in `pointer`. */
static struct x86_place after(const struct x86_place *pointer, int64_t displacement)
{
    return (struct x86_place){.base = pointer->reg, .displacement = displacement};
}

static bool is_register(const struct x86_place *place)
{
    return place->reg != ZYDIS_REGISTER_NONE;
}

static enum operation_kind kind_of(const ZydisDecodedInstruction *decoded)
{
    switch (decoded->mnemonic) {
    case ZYDIS_MNEMONIC_MOV:
        return MOVE;
    case ZYDIS_MNEMONIC_LEA:
        return ADDRESS;
    case ZYDIS_MNEMONIC_PUSH:
        return PUSH;
    case ZYDIS_MNEMONIC_POP:
        return POP;
    case ZYDIS_MNEMONIC_ADD:
        return ADD;
    case ZYDIS_MNEMONIC_JMP:
        return JUMP;
    case ZYDIS_MNEMONIC_RET:
        return RETURN;
    default:
        return OTHER;
    }
}

/* False for a part of a register and for memory relative to a segment register. */
static bool place_of(const ZydisDecodedOperand *operand, uint64_t next, struct x86_place *place)
{
    *place = (struct x86_place){0};
    if (operand->type == ZYDIS_OPERAND_TYPE_REGISTER) {
        place->reg = (uint16_t)operand->reg.value;
        return ZydisRegisterGetClass(operand->reg.value) == ZYDIS_REGCLASS_GPR64;
    }
    const ZydisDecodedOperandMem *memory = &operand->mem;
    bool relative = memory->base == ZYDIS_REGISTER_RIP;
    place->base = relative ? 0 : (uint16_t)memory->base;
    place->index = (uint16_t)memory->index;
    place->scale = memory->index ? memory->scale : 0;
    place->displacement = memory->disp.value + (relative ? (int64_t)next : 0);
    return operand->type == ZYDIS_OPERAND_TYPE_MEMORY && memory->segment != ZYDIS_REGISTER_FS &&
           memory->segment != ZYDIS_REGISTER_GS &&
           (memory->type == ZYDIS_MEMOP_TYPE_AGEN || operand->size == 64);
}

static bool read_source(const ZydisDecodedOperand *operand, uint64_t next,
                        struct operation *operation)
{
    operation->has_number = operand->type == ZYDIS_OPERAND_TYPE_IMMEDIATE;
    if (!operation->has_number)
        return place_of(operand, next, &operation->from);
    operation->number = operand->imm.value.s;
    return true;
}

/* A `mov` of a number to half a register clears the other half. */
static void widen(ZydisDecodedOperand *operands)
{
    ZydisDecodedOperand *to = &operands[0];
    if (operands[1].type == ZYDIS_OPERAND_TYPE_IMMEDIATE &&
        to->type == ZYDIS_OPERAND_TYPE_REGISTER &&
        ZydisRegisterGetClass(to->reg.value) == ZYDIS_REGCLASS_GPR32)
        to->reg.value = ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, to->reg.value);
}

static bool read_operands(const ZydisDecodedInstruction *decoded, ZydisDecodedOperand *operands,
                          uint64_t next, struct operation *operation)
{
    switch (operation->kind) {
    case MOVE:
        widen(operands);
        return place_of(&operands[0], next, &operation->to) &&
               read_source(&operands[1], next, operation);
    case ADDRESS:
    case ADD:
        return place_of(&operands[0], next, &operation->to) &&
               read_source(&operands[1], next, operation);
    case PUSH:
        return read_source(&operands[0], next, operation);
    case POP:
        return place_of(&operands[0], next, &operation->to);
    case JUMP:
        return decoded->meta.branch_type != ZYDIS_BRANCH_TYPE_FAR &&
               read_source(&operands[0], next, operation);
    case RETURN:
    case OTHER:
        break;
    }
    return true;
}

/* The instruction at `offset`. False if it cannot be decoded. */
static bool decode(const struct x86_code *code, size_t offset, struct operation *operation)
{
    ZydisDecoder decoder;
    ZydisDecoderContext context;
    ZydisDecodedInstruction decoded;
    ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
    ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
    if (offset >= code->size ||
        !ZYAN_SUCCESS(ZydisDecoderDecodeInstruction(&decoder, &context, code->bytes + offset,
                                                    code->size - offset, &decoded)))
        return false;
    *operation = (struct operation){.kind = kind_of(&decoded), .length = decoded.length};
    if (operation->kind == OTHER)
        return true;
    if (!ZYAN_SUCCESS(ZydisDecoderDecodeOperands(&decoder, &context, &decoded, operands,
                                                 decoded.operand_count)) ||
        !read_operands(&decoded, operands, code->address + offset + decoded.length, operation))
        operation->kind = OTHER;
    return true;
}

/* The instruction of `length` bytes that ends at `end`. */
static bool decode_before(const struct x86_code *code, size_t end, size_t length,
                          struct operation *operation)
{
    return length <= end && decode(code, end - length, operation) && operation->length == length;
}

/* A move of one word between places. */
static bool is_move(const struct operation *operation, const struct x86_place *to,
                    const struct x86_place *from)
{
    return operation->kind == MOVE && !operation->has_number && same_place(&operation->to, to) &&
           same_place(&operation->from, from);
}

/* Whether a `mov` between these places ends at *offset; sets *offset to its beginning. */
static bool move_before(const struct x86_code *code, size_t *offset, const struct x86_place *to,
                        const struct x86_place *from)
{
    struct operation operation;
    for (size_t length = 1; length <= X86_LONGEST_INSTRUCTION; length++) {
        if (decode_before(code, *offset, length, &operation) && is_move(&operation, to, from)) {
            *offset -= length;
            return true;
        }
    }
    return false;
}

/* As move_before, of a `mov` from any register to memory; returns which register. */
static bool store_before(const struct x86_code *code, size_t *offset, const struct x86_place *to,
                         struct x86_place *from)
{
    struct operation operation;
    for (size_t length = 1; length <= X86_LONGEST_INSTRUCTION; length++) {
        if (decode_before(code, *offset, length, &operation) && is_register(&operation.from) &&
            is_move(&operation, to, &operation.from)) {
            *from = operation.from;
            *offset -= length;
            return true;
        }
    }
    return false;
}

static bool push_before(const struct x86_code *code, size_t *offset, const struct x86_place *from)
{
    struct operation operation;
    for (size_t length = 1; length <= X86_LONGEST_INSTRUCTION; length++) {
        if (decode_before(code, *offset, length, &operation) && operation.kind == PUSH &&
            !operation.has_number && same_place(&operation.from, from)) {
            *offset -= length;
            return true;
        }
    }
    return false;
}

/* A constant address is loaded, by lea or mov. */
static bool loads_constant(const struct operation *operation, uint64_t *constant)
{
    bool is_absolute = !operation->from.base && !operation->from.index;
    if (!is_register(&operation->to))
        return false;
    if (operation->kind == ADDRESS && is_absolute)
        *constant = (uint64_t)operation->from.displacement;
    else if (operation->kind == MOVE && operation->has_number)
        *constant = (uint64_t)operation->number;
    else
        return false;
    return true;
}

bool x86_loads_constant(const struct x86_code *code, uint64_t address, uint64_t *constant)
{
    struct operation operation;
    return address >= code->address && decode(code, address - code->address, &operation) &&
           loads_constant(&operation, constant);
}

static bool load_before(const struct x86_code *code, size_t offset, const struct x86_place *to,
                        uint64_t *constant)
{
    struct operation operation;
    for (size_t length = 1; length <= X86_LONGEST_INSTRUCTION; length++) {
        if (decode_before(code, offset, length, &operation) && same_place(&operation.to, to) &&
            loads_constant(&operation, constant))
            return true;
    }
    return false;
}

/* The one or two instructions before `offset` push the address of the handler. */
static bool handler_before(const struct x86_code *code, size_t offset, uint64_t *handler)
{
    struct operation operation;
    for (size_t length = 1; length <= 2; length++)
        if (decode_before(code, offset, length, &operation) && operation.kind == PUSH &&
            is_register(&operation.from) &&
            load_before(code, offset - length, &operation.from, handler))
            return true;
    /* push $HANDLER */
    for (size_t length = 5; length <= 6; length++)
        if (decode_before(code, offset, length, &operation) && operation.kind == PUSH &&
            operation.has_number) {
            *handler = (uint64_t)operation.number;
            return true;
        }
    return false;
}

/* `store`, at `offset`, makes the chain point to a pair that the instructions before it pushed. */
static bool is_push(const struct x86_code *code, size_t offset, const struct operation *store,
                    uint64_t *handler)
{
    struct x86_place stack = a_register(ZYDIS_REGISTER_RSP);
    return is_move(store, &store->to, &stack) && !same_place(&store->to, &stack) &&
           push_before(code, &offset, &store->to) && handler_before(code, offset, handler);
}

/* As is_push, of a pair on another stack, whose address is in a register. */
static bool is_push_elsewhere(const struct x86_code *code, size_t offset,
                              const struct operation *store, uint64_t *handler)
{
    if (!is_move(store, &store->to, &store->from) || !is_register(&store->from))
        return false;
    struct x86_place previous = after(&store->from, 0), second = after(&store->from, WORD);
    struct x86_place reg;
    return store_before(code, &offset, &previous, &reg) &&
           move_before(code, &offset, &reg, &store->to) &&
           store_before(code, &offset, &second, &reg) && load_before(code, offset, &reg, handler);
}

/* `offset` is after the instruction that pops the address of the previous trap: the handler's
 * address follows on the stack. */
static bool drops_handler(const struct x86_code *code, size_t offset)
{
    struct operation operation;
    struct x86_place stack = a_register(ZYDIS_REGISTER_RSP), above = after(&stack, WORD);
    if (!decode(code, offset, &operation))
        return false;
    switch (operation.kind) {
    case POP:
        return is_register(&operation.to);
    case ADD:
        return same_place(&operation.to, &stack) && operation.has_number &&
               operation.number >= WORD;
    case ADDRESS:
        return same_place(&operation.to, &stack) && same_place(&operation.from, &above);
    default:
        return false;
    }
}

static bool is_pop(const struct x86_code *code, size_t offset, const struct operation *pop,
                   const struct x86_place *chain)
{
    struct x86_place stack = a_register(ZYDIS_REGISTER_RSP);
    return pop->kind == POP && same_place(&pop->to, chain) &&
           drops_handler(code, offset + pop->length) &&
           !move_before(code, &offset, &stack, chain); /* else it raises */
}

/* mov (%rsp),R; `store` = mov R,CHAIN; lea 16(%rsp),S */
static bool is_pop_elsewhere(const struct x86_code *code, size_t offset,
                             const struct operation *store, const struct x86_place *chain)
{
    struct operation next;
    struct x86_place stack = a_register(ZYDIS_REGISTER_RSP);
    struct x86_place top = after(&stack, 0), above = after(&stack, TRAP_SIZE);
    return is_move(store, chain, &store->from) && is_register(&store->from) &&
           decode(code, offset + store->length, &next) && next.kind == ADDRESS &&
           same_place(&next.from, &above) && move_before(code, &offset, &store->from, &top);
}

static bool unwinds_before(const struct x86_code *code, size_t offset,
                           const struct x86_place *chain)
{
    struct operation operation;
    struct x86_place stack = a_register(ZYDIS_REGISTER_RSP);
    for (size_t length = 1; length <= X86_LONGEST_INSTRUCTION; length++) {
        size_t before = offset - length;
        if (decode_before(code, offset, length, &operation) && operation.kind == POP &&
            same_place(&operation.to, chain))
            return move_before(code, &before, &stack, chain);
    }
    return false;
}

/* Before a ret, caml_raise_exception restores one more register. */
static bool unwinds_before_move(const struct x86_code *code, size_t offset,
                                const struct x86_place *chain)
{
    struct operation operation;
    for (size_t length = 1; length <= X86_LONGEST_INSTRUCTION; length++)
        if (decode_before(code, offset, length, &operation) && operation.kind == MOVE &&
            is_register(&operation.to) && unwinds_before(code, offset - length, chain))
            return true;
    return false;
}

static bool is_raise(const struct x86_code *code, size_t offset, const struct operation *branch,
                     const struct x86_place *chain)
{
    struct operation operation;
    if (branch->kind == RETURN)
        return unwinds_before(code, offset, chain) || unwinds_before_move(code, offset, chain);
    if (branch->kind != JUMP || !is_register(&branch->from))
        return false;
    for (size_t length = 1; length <= 2; length++)
        if (decode_before(code, offset, length, &operation) && operation.kind == POP &&
            same_place(&operation.to, &branch->from) &&
            unwinds_before(code, offset - length, chain))
            return true;
    return false;
}

/* What `operation`, at `offset`, does to the chain. */
static bool classify(const struct x86_code *code, size_t offset, const struct operation *operation,
                     const struct x86_place *chain, struct x86_trap *trap)
{
    bool stores = operation->kind == MOVE && same_place(&operation->to, chain);
    trap->handler = 0;
    if (stores && (is_push(code, offset, operation, &trap->handler) ||
                   is_push_elsewhere(code, offset, operation, &trap->handler)))
        trap->kind = X86_TRAP_PUSH;
    else if (is_pop(code, offset, operation, chain) ||
             (stores && is_pop_elsewhere(code, offset, operation, chain)))
        trap->kind = X86_TRAP_POP;
    else if (is_raise(code, offset, operation, chain))
        trap->kind = X86_TRAP_RAISE;
    else
        return false;
    return true;
}

/* Whether the bytes can name the chain, which rules out nearly all code: an instruction that names
 * it, a field relative to a register, has the register and the displacement in two consecutive
 * bytes. */
static bool may_name_chain(const struct x86_code *code, const struct x86_place *chain, size_t first,
                           size_t last)
{
    enum { WITHOUT_DISPLACEMENT, REGISTER_OPERAND = 3, NEEDS_ANOTHER_BYTE = 4 };
    int reg = chain->base ? ZydisRegisterGetId(chain->base) & 7 : NEEDS_ANOTHER_BYTE;
    if (chain->index || reg == NEEDS_ANOTHER_BYTE || chain->displacement == 0)
        return true;
    for (size_t i = first; i < last && i + 1 < code->size; i++) {
        int mode = code->bytes[i] >> 6;
        if ((code->bytes[i] & 7) == reg && mode != WITHOUT_DISPLACEMENT &&
            mode != REGISTER_OPERAND && code->bytes[i + 1] == (uint8_t)chain->displacement)
            return true;
    }
    return false;
}

struct x86_trap_scan x86_trap_begin(const struct x86_code *code, const struct x86_place *chain,
                                    uint64_t first, uint64_t last)
{
    /* A branch that raises has the chain in one of the three instructions before it. */
    enum { BEFORE = 3 * X86_LONGEST_INSTRUCTION };
    struct x86_trap_scan scan = {code, chain, first, last, 0};
    uint64_t start = first - code->address, end = last - code->address + X86_LONGEST_INSTRUCTION;
    if (!may_name_chain(code, chain, start > BEFORE ? start - BEFORE : 0, end))
        scan.code = NULL;
    return scan;
}

bool x86_trap_next(struct x86_trap_scan *scan, struct x86_trap *trap)
{
    const struct x86_code *code = scan->code;
    while (code && scan->next >= code->address && scan->next <= scan->last) {
        struct operation operation;
        size_t offset = scan->next - code->address;
        if (!decode(code, offset, &operation))
            return false;
        trap->address = scan->next;
        trap->instructions = scan->instructions++;
        scan->next += operation.length;
        if (classify(code, offset, &operation, scan->chain, trap))
            return true;
    }
    return false;
}

/* `mov %rsp,PLACE`: REX.W, 89, and rsp's number in the middle of the third byte. */
static bool may_store_stack_pointer(const uint8_t *bytes)
{
    return (bytes[0] & 0xfc) == 0x48 && bytes[1] == 0x89 && (bytes[2] & 0x38) == 0x20;
}

bool x86_trap_learn(const struct x86_code *code, struct x86_place *chain)
{
    enum { OPCODE = 0x89 };
    /* push %rbp; mov %rsp,%rbp: how functions begin */
    struct x86_place frame = a_register(ZYDIS_REGISTER_RBP);
    for (size_t i = 1; i + 1 < code->size; i++) {
        const uint8_t *found = memchr(code->bytes + i, OPCODE, code->size - 1 - i);
        if (!found)
            return false;
        i = (size_t)(found - code->bytes);
        struct operation store;
        uint64_t handler;
        if (may_store_stack_pointer(found - 1) && decode(code, i - 1, &store) &&
            !same_place(&store.to, &frame) && is_push(code, i - 1, &store, &handler)) {
            *chain = store.to;
            return true;
        }
    }
    return false;
}
