#include "symbol/code_flow.h"

#include "x86/decode.h"

#include <stdlib.h>

/* 0x90, and 0f 1f with its operands (SDM volume 2, "NOP"), after any prefixes of length. */
static bool is_nop(const uint8_t *bytes, unsigned length)
{
    unsigned i = 0;
    while (i < length && (bytes[i] == 0x66 || bytes[i] == 0x2e))
        i++;
    return (i + 1 == length && bytes[i] == 0x90) ||
           (i + 1 < length && bytes[i] == 0x0f && bytes[i + 1] == 0x1f);
}

static bool is_jump(enum x86_flow flow)
{
    return flow == X86_CONDITIONAL || flow == X86_JUMP;
}

static bool ends_code(enum x86_flow flow)
{
    return flow == X86_JUMP || flow == X86_INDIRECT_JUMP || flow == X86_RETURN ||
           flow == X86_FAR_JUMP || flow == X86_FAR_RETURN;
}

static void add_instruction(struct code_flow *flow, const struct x86_instruction *instruction,
                            uint64_t address)
{
    uint64_t next = address + instruction->length;
    if (is_jump(instruction->flow))
        *(struct code_jump *)array_add(&flow->jumps) =
            (struct code_jump){instruction->target, address};
    if (ends_code(instruction->flow))
        *(struct code_end *)array_add(&flow->ends) =
            (struct code_end){next, next, instruction->flow == X86_JUMP ? instruction->target : 0};
}

/* A NOP at `address` that control does not come to. */
static void pass_padding(struct code_flow *flow, uint64_t address, unsigned length)
{
    if (flow->ends.count == 0)
        return;
    struct code_end *end = array_at(&flow->ends, flow->ends.count - 1);
    if (end->padded == address)
        end->padded += length;
}

static int by_target(const void *left, const void *right)
{
    const struct code_jump *a = left, *b = right;
    if (a->target != b->target)
        return a->target < b->target ? -1 : 1;
    return (a->from > b->from) - (a->from < b->from);
}

struct code_flow code_flow_read(const struct image_file *file, uint64_t start, uint64_t end)
{
    struct code_flow flow = {array_of(sizeof(struct code_jump)), array_of(sizeof(struct code_end))};
    uint64_t offset;
    if (start >= end || !image_file_offset(file, start, &offset, NULL) || offset >= file->view.size)
        return flow;
    const uint8_t *code = (const uint8_t *)file->view.bytes + offset;
    uint64_t available = file->view.size - offset, size = end - start;
    if (size > available)
        size = available;
    struct x86_instruction instruction;
    for (uint64_t at = 0; at < size; at += instruction.length) {
        if (!x86_decode(&instruction, code + at, size - at, start + at, X86_MODE_64))
            break;
        if (is_nop(code + at, instruction.length))
            pass_padding(&flow, start + at, instruction.length);
        add_instruction(&flow, &instruction, start + at);
    }
    if (flow.jumps.count > 0)
        qsort(flow.jumps.elements, flow.jumps.count, sizeof(struct code_jump), by_target);
    return flow;
}

void code_flow_free(struct code_flow *flow)
{
    array_free(&flow->jumps);
    array_free(&flow->ends);
}

const struct code_jump *code_flow_jumps(const struct code_flow *flow, uint64_t start, uint64_t end,
                                        size_t *count)
{
    size_t first = array_find_key64(&flow->jumps, start);
    *count = array_find_key64(&flow->jumps, end) - first;
    return *count > 0 ? (const struct code_jump *)flow->jumps.elements + first : NULL;
}

const struct code_end *code_flow_end(const struct code_flow *flow, uint64_t address)
{
    size_t index = array_find_key64(&flow->ends, address);
    const struct code_end *end = index < flow->ends.count ? array_at(&flow->ends, index) : NULL;
    return end && end->address <= address ? end : NULL;
}
