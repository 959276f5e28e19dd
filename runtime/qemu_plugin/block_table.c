#include "runtime/qemu_plugin/block_table.h"

#include "engine/block_kind.h"
#include "runtime/qemu_plugin/block_cost.h"
#include "x86/decode.h"
#include "x86/stack_load.h"

#define HASH_NONFATAL_OOM 1
#define XXH_INLINE_ALL
#include <stdlib.h>
#include <string.h>
#include <uthash.h>
#include <xxhash.h>

enum {
    CODE_PAGE = 4096,
    LONGEST_BLOCK = UINT16_MAX, /* instructions; qemu itself stops at 512 */
    LOCK_PREFIX = 0xf0,
    LONGEST_PREFIXES = 4,
};

/* Addresses of the vsyscall page and of the kernel. */
static const uint64_t first_kernel_address = (uint64_t)1 << 47;

struct block_key {
    uint64_t pc, size, hash;
    uint64_t instructions, changeable;
};

struct block_entry {
    UT_hash_handle hh;
    struct block_key key;
    struct pt_code_block block; /* ends with a flexible array */
};

static size_t instruction_size(const struct qemu_plugin_tb *tb, size_t index)
{
    return qemu_plugin_insn_size(qemu_plugin_tb_get_insn(tb, index));
}

uint64_t block_code_size(const struct qemu_plugin_tb *tb)
{
    uint64_t size = 0;
    size_t count = qemu_plugin_tb_n_insns(tb);
    for (size_t i = 0; i < count; i++)
        size += instruction_size(tb, i);
    return size;
}

/* qemu 7.2 lists an instruction that crosses into the next page, cut off at the page's end, though
 * it does not translate it (it begins the next block). It is recognized because only its first
 * bytes are there. */
static bool was_cut_off(const struct pt_code_block *block)
{
    return block->instructions > 1 && block->end % CODE_PAGE == 0;
}

static void classify(struct pt_code_block *block, const uint8_t *bytes, uint64_t size,
                     bool compress_returns)
{
    uint8_t last = block->length[block->instructions - 1];
    struct x86_instruction instruction;
    if (x86_decode(&instruction, bytes + size - last, last, block->end - last, X86_MODE_64)) {
        block->kind = (uint8_t)block_kind(instruction.flow, compress_returns);
        block->target = instruction.target;
        return;
    }
    if (was_cut_off(block)) {
        block->instructions--;
        block->end -= last;
    }
    block->kind = PT_BLOCK_SEQUENTIAL;
}

/* Instructions with a LOCK prefix may need all other threads stopped: qemu then leaves the block
 * and runs them alone. Taking other instructions for such does no harm. */
static bool may_be_locked(const uint8_t *bytes, size_t size)
{
    return memchr(bytes, LOCK_PREFIX, size < LONGEST_PREFIXES ? size : LONGEST_PREFIXES) != NULL;
}

static void describe(struct pt_code_block *block, const struct qemu_plugin_tb *tb,
                     const struct block_code *code, size_t count, uint64_t size)
{
    block->pc = code->pc;
    block->end = code->pc + size;
    block->instructions = (uint16_t)count;
    block->restartable = code->changeable;
    if (code->pc >= first_kernel_address) {
        block->kind = PT_BLOCK_OUTSIDE;
    } else {
        const uint8_t *bytes = (const uint8_t *)(uintptr_t)(code->pc + code->guest_base);
        uint64_t at = 0;
        for (size_t i = 0; i < count; i++) {
            block->length[i] = (uint8_t)instruction_size(tb, i);
            block->restartable |= may_be_locked(bytes + at, block->length[i]);
            block->synchronises |= x86_synchronises(bytes + at, block->length[i]);
            block->loads_stack |= x86_is_stack_load(bytes + at, block->length[i]);
            at += block->length[i];
        }
        classify(block, bytes, size, code->compress_returns);
        block->cost = block_cost(bytes, block->length, block->instructions);
    }
    pt_code_block_describe(block);
}

struct pt_code_block *block_table_get(struct block_table *table, const struct qemu_plugin_tb *tb,
                                      const struct block_code *code)
{
    size_t count = qemu_plugin_tb_n_insns(tb);
    uint64_t size = block_code_size(tb);
    if (count == 0 || count > LONGEST_BLOCK)
        return NULL;
    struct block_key key = {.pc = code->pc, .size = size, .instructions = count};
    key.changeable = code->changeable;
    if (code->pc < first_kernel_address)
        key.hash = XXH3_64bits((const void *)(uintptr_t)(code->pc + code->guest_base), size);

    struct block_entry *entry;
    HASH_FIND(hh, table->entries, &key, sizeof key, entry);
    if (entry)
        return &entry->block;
    entry = calloc(1, sizeof *entry + count);
    if (!entry)
        return NULL;
    entry->key = key;
    describe(&entry->block, tb, code, count, size);
    HASH_ADD(hh, table->entries, key, sizeof entry->key, entry);
    return &entry->block;
}
