#include "code.h"

#include <assert.h>
#include <string.h>

void code_put(struct code *code, const void *bytes, size_t size)
{
    assert(code->size + size <= CODE_MOST);
    memcpy(code->bytes + code->size, bytes, size);
    code->size += size;
}

void code_8(struct code *code, unsigned value)
{
    uint8_t byte = (uint8_t)value;
    code_put(code, &byte, 1);
}

void code_32(struct code *code, uint32_t value)
{
    code_put(code, &value, sizeof value);
}

void code_relative(struct code *code, uint64_t target)
{
    code_32(code, (uint32_t)(target - code_here(code) - 4));
}

void code_rip_narrow(struct code *code, unsigned opcode, unsigned reg, uint64_t address)
{
    code_8(code, opcode);
    code_8(code, (reg & 7) << 3 | 5);
    code_relative(code, address);
}

void code_rip(struct code *code, unsigned opcode, unsigned reg, uint64_t address)
{
    code_8(code, 0x48 | reg >> 3 << 2);
    code_rip_narrow(code, opcode, reg, address);
}

void code_load(struct code *code, unsigned reg, uint64_t address)
{
    code_rip(code, 0x8b, reg, address);
}

void code_store(struct code *code, unsigned reg, uint64_t address)
{
    code_rip(code, 0x89, reg, address);
}

void code_lea(struct code *code, unsigned reg, uint64_t address)
{
    code_rip(code, 0x8d, reg, address);
}

void code_add(struct code *code, unsigned to, unsigned from, int32_t distance)
{
    code_8(code, 0x48 | to >> 3 << 2 | from >> 3);
    code_8(code, 0x8d);
    code_8(code, 0x80 | (to & 7) << 3 | (from & 7));
    if ((from & 7) == RSP)
        code_8(code, 0x24);
    code_32(code, (uint32_t)distance);
}

void code_move(struct code *code, unsigned to, unsigned from)
{
    code_8(code, 0x48 | from >> 3 << 2 | to >> 3);
    code_8(code, 0x89);
    code_8(code, 0xc0 | (from & 7) << 3 | (to & 7));
}

void code_constant(struct code *code, unsigned reg, uint64_t value)
{
    if (value <= UINT32_MAX) {
        if (reg >= 8)
            code_8(code, 0x41);
        code_8(code, 0xb8 | (reg & 7));
        code_32(code, (uint32_t)value);
        return;
    }
    code_8(code, 0x48 | reg >> 3);
    code_8(code, 0xb8 | (reg & 7));
    code_put(code, &value, sizeof value);
}

void code_push(struct code *code, unsigned reg)
{
    if (reg >= 8)
        code_8(code, 0x41);
    code_8(code, 0x50 | (reg & 7));
}

void code_pop(struct code *code, unsigned reg)
{
    if (reg >= 8)
        code_8(code, 0x41);
    code_8(code, 0x58 | (reg & 7));
}

void code_land(struct code *code, size_t at)
{
    uint32_t distance = (uint32_t)(code->size - at - 4);
    memcpy(code->bytes + at, &distance, sizeof distance);
}

void code_land_short(struct code *code, size_t at)
{
    size_t distance = code->size - at - 1;
    assert(distance <= INT8_MAX);
    code->bytes[at] = (uint8_t)distance;
}
