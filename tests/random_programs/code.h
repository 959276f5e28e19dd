/* Machine code that is being written: bytes, and the few instructions of the structure of a random program. None of
 * these changes the flags. Source of encodings: SDM volume 2.
 */
#ifndef MAGIC_TRACE_TESTS_RANDOM_PROGRAMS_CODE_H
#define MAGIC_TRACE_TESTS_RANDOM_PROGRAMS_CODE_H

#include <stddef.h>
#include <stdint.h>

enum { RAX, RCX, RDX, RBX, RSP, RBP, RSI, RDI, R8, R9, R10, R11, R12, R13, R14, R15 };
enum { CODE_MOST = 1 << 20 };

struct code {
    uint8_t *bytes; /* room for CODE_MOST */
    size_t size;
    uint64_t base; /* address of the first byte */
};

static inline uint64_t code_here(const struct code *code)
{
    return code->base + code->size;
}

void code_put(struct code *code, const void *bytes, size_t size);
void code_8(struct code *code, unsigned value);
void code_32(struct code *code, uint32_t value);

/* opcode reg, [rip + ...]: 64-bit operands, map 0 */
void code_rip(struct code *code, unsigned opcode, unsigned reg, uint64_t address);
/* the instruction without REX.W, `reg` being part of the opcode */
void code_rip_narrow(struct code *code, unsigned opcode, unsigned reg, uint64_t address);
void code_load(struct code *code, unsigned reg, uint64_t address);
void code_store(struct code *code, unsigned reg, uint64_t address);
void code_lea(struct code *code, unsigned reg, uint64_t address);
/* lea to, [from + distance] */
void code_add(struct code *code, unsigned to, unsigned from, int32_t distance);
void code_move(struct code *code, unsigned to, unsigned from);
/* The shortest form. */
void code_constant(struct code *code, unsigned reg, uint64_t value);
void code_push(struct code *code, unsigned reg);
void code_pop(struct code *code, unsigned reg);
/* A 4-byte displacement from its end to `target`. */
void code_relative(struct code *code, uint64_t target);
/* Sets the 4-byte displacement at offset `at`, or the one of one byte, so that it leads to the end of the code. */
void code_land(struct code *code, size_t at);
void code_land_short(struct code *code, size_t at);

#endif
