/* Writing machine code: the few forms of instructions that the translator makes itself.
 *
 * Called by translate.c and fragment.c. Code is written at `at` for execution at `at + shift`; with shift 0 it is written
 * where it will run. Source of encodings: SDM volume 2.
 */
#ifndef MAGIC_TRACE_RUNTIME_TRANSLATOR_EMIT_H
#define MAGIC_TRACE_RUNTIME_TRANSLATOR_EMIT_H

#include "runtime/translator/thread.h"

struct tr_emitter {
    uint8_t *at;
    uint64_t shift;
};

static inline uint64_t tr_emit_address(const struct tr_emitter *emitter)
{
    return (uint64_t)emitter->at + emitter->shift;
}

static inline void tr_emit_8(struct tr_emitter *emitter, uint8_t value)
{
    *emitter->at++ = value;
}

static inline void tr_emit_32(struct tr_emitter *emitter, uint32_t value)
{
    __builtin_memcpy(emitter->at, &value, 4);
    emitter->at += 4;
}

static inline void tr_emit_64(struct tr_emitter *emitter, uint64_t value)
{
    __builtin_memcpy(emitter->at, &value, 8);
    emitter->at += 8;
}

static inline void tr_emit_bytes(struct tr_emitter *emitter, const uint8_t *bytes, unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        *emitter->at++ = bytes[i];
}

/* A 64-bit instruction with a register and gs:[offset]. */
static inline void tr_emit_gs(struct tr_emitter *emitter, uint8_t opcode, unsigned reg,
                              uint32_t offset)
{
    tr_emit_8(emitter, 0x65);
    tr_emit_8(emitter, 0x48 | (uint8_t)(reg >> 3 << 2));
    tr_emit_8(emitter, opcode);
    tr_emit_8(emitter, (uint8_t)((reg & 7) << 3 | 4));
    tr_emit_8(emitter, 0x25);
    tr_emit_32(emitter, offset);
}

static inline void tr_emit_save(struct tr_emitter *emitter, unsigned reg, uint32_t offset)
{
    tr_emit_gs(emitter, 0x89, reg, offset);
}

static inline void tr_emit_load(struct tr_emitter *emitter, unsigned reg, uint32_t offset)
{
    tr_emit_gs(emitter, 0x8b, reg, offset);
}

/* mov dword gs:[offset], value */
static inline void tr_emit_gs_store_32(struct tr_emitter *emitter, uint32_t offset, uint32_t value)
{
    tr_emit_8(emitter, 0x65);
    tr_emit_8(emitter, 0xc7);
    tr_emit_8(emitter, 0x04);
    tr_emit_8(emitter, 0x25);
    tr_emit_32(emitter, offset);
    tr_emit_32(emitter, value);
}

/* jmp gs:[offset] */
static inline void tr_emit_gs_jump(struct tr_emitter *emitter, uint32_t offset)
{
    tr_emit_8(emitter, 0x65);
    tr_emit_8(emitter, 0xff);
    tr_emit_8(emitter, 0x24);
    tr_emit_8(emitter, 0x25);
    tr_emit_32(emitter, offset);
}

/* jmp gs:[rcx * 8 + offset] */
static inline void tr_emit_table_jump(struct tr_emitter *emitter, uint32_t offset)
{
    tr_emit_8(emitter, 0x65);
    tr_emit_8(emitter, 0xff);
    tr_emit_8(emitter, 0x24);
    tr_emit_8(emitter, 0xcd);
    tr_emit_32(emitter, offset);
}

/* The 32-bit displacement from the next instruction to `target`. */
static inline void tr_emit_relative(struct tr_emitter *emitter, uint64_t target)
{
    tr_emit_32(emitter, (uint32_t)(target - (tr_emit_address(emitter) + 4)));
}

static inline void tr_emit_jump(struct tr_emitter *emitter, uint64_t target)
{
    tr_emit_8(emitter, 0xe9);
    tr_emit_relative(emitter, target);
}

/* mov dword [r11], value */
static inline void tr_emit_log_word(struct tr_emitter *emitter, uint32_t value)
{
    tr_emit_8(emitter, 0x41);
    tr_emit_8(emitter, 0xc7);
    tr_emit_8(emitter, 0x03);
    tr_emit_32(emitter, value);
}

/* lea r11, [r11 + size] */
static inline void tr_emit_log_advance(struct tr_emitter *emitter, uint8_t size)
{
    tr_emit_8(emitter, 0x4d);
    tr_emit_8(emitter, 0x8d);
    tr_emit_8(emitter, 0x5b);
    tr_emit_8(emitter, size);
}

/* movabs reg, value */
static inline void tr_emit_constant(struct tr_emitter *emitter, unsigned reg, uint64_t value)
{
    tr_emit_8(emitter, 0x48 | (uint8_t)(reg >> 3));
    tr_emit_8(emitter, 0xb8 | (uint8_t)(reg & 7));
    tr_emit_64(emitter, value);
}

/* An instruction `opcode` of 64 bits with reg and [rip + ...] = address. */
static inline void tr_emit_rip(struct tr_emitter *emitter, uint8_t opcode, unsigned reg,
                               uint64_t address)
{
    tr_emit_8(emitter, 0x48 | (uint8_t)(reg >> 3 << 2));
    tr_emit_8(emitter, opcode);
    tr_emit_8(emitter, (uint8_t)((reg & 7) << 3 | 5));
    tr_emit_relative(emitter, address);
}

/* Fillers that run, of 1 to 9 bytes at a time (SDM, NOP: recommended multi-byte sequences). */
static inline void tr_emit_nops(struct tr_emitter *emitter, unsigned count)
{
    while (count > 0) {
        unsigned size = count > 3 ? 4 : count;
        if (size == 1) {
            tr_emit_8(emitter, 0x90);
        } else if (size == 2) {
            tr_emit_8(emitter, 0x66);
            tr_emit_8(emitter, 0x90);
        } else {
            tr_emit_8(emitter, 0x0f);
            tr_emit_8(emitter, 0x1f);
            tr_emit_8(emitter, size == 3 ? 0x00 : 0x40);
            if (size == 4)
                tr_emit_8(emitter, 0x00);
        }
        count -= size;
    }
}

static inline void tr_emit_align_8(struct tr_emitter *emitter)
{
    tr_emit_nops(emitter, (unsigned)(-tr_emit_address(emitter) & 7));
}

/* Between fragments, where nothing runs. */
static inline void tr_emit_gap_8(struct tr_emitter *emitter)
{
    while (tr_emit_address(emitter) & 7)
        tr_emit_8(emitter, 0xcc);
}

/* So that the 4 bytes which come after `before` more bytes lie in one cache line, and can be changed while others run
 * them. */
static inline void tr_emit_keep_together(struct tr_emitter *emitter, unsigned before)
{
    unsigned offset = (unsigned)(tr_emit_address(emitter) + before) & 63;
    if (offset > 60)
        tr_emit_nops(emitter, 64 - offset);
}

#endif
