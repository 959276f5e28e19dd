#include "engine/ptrace/code_cache.h"

#include "base/memory.h"
#include "engine/block_kind.h"
#include "x86/decode.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <uthash.h>

enum {
    BLOCK_BYTES = 512,       /* read at once: a block ends there at the latest */
    BLOCK_INSTRUCTIONS = 64, /* likewise */
    PAGE = 4096,
};

struct cached_block {
    uint64_t pc; /* key */
    UT_hash_handle hh;
    bool pushes_flags;
    struct pt_code_block block; /* last, because its lengths follow it */
};

/* Up to the end of the page when the next one is not mapped. */
static size_t read_code(pid_t pid, uint64_t pc, uint8_t bytes[BLOCK_BYTES])
{
    struct iovec local = {bytes, BLOCK_BYTES};
    struct iovec remote = {(void *)(uintptr_t)pc, BLOCK_BYTES};
    ssize_t got = process_vm_readv(pid, &local, 1, &remote, 1, 0);
    if (got == BLOCK_BYTES)
        return BLOCK_BYTES;
    size_t rest = PAGE - pc % PAGE;
    local.iov_len = remote.iov_len = rest < BLOCK_BYTES ? rest : BLOCK_BYTES;
    got = process_vm_readv(pid, &local, 1, &remote, 1, 0);
    return got > 0 ? (size_t)got : 0;
}

/* pushf, perhaps with an operand-size or REX prefix (SDM volume 2, PUSHF). */
static bool pushes_flags(const uint8_t *bytes, unsigned length)
{
    enum { PUSHF = 0x9c, LONGEST = 3 };
    return length <= LONGEST && bytes[length - 1] == PUSHF &&
           (length == 1 || bytes[0] == 0x66 || bytes[0] >> 4 == 4);
}

static struct cached_block *make_block(uint64_t pc, const uint8_t *bytes, size_t size)
{
    struct cached_block *made = memory_allocate_zeroed(sizeof *made + BLOCK_INSTRUCTIONS);
    struct pt_code_block *block = &made->block;
    made->pc = block->pc = pc;
    size_t at = 0;
    struct x86_instruction instruction = {.flow = X86_SEQUENTIAL};
    while (block->instructions < BLOCK_INSTRUCTIONS && instruction.flow == X86_SEQUENTIAL &&
           !made->pushes_flags &&
           x86_decode(&instruction, bytes + at, size - at, pc + at, X86_MODE_64)) {
        block->length[block->instructions++] = (uint8_t)instruction.length;
        made->pushes_flags = pushes_flags(bytes + at, instruction.length);
        at += instruction.length;
    }
    block->end = pc + at;
    /* A rep instruction is one to the stepper, which stays on it until it is through. */
    block->kind = instruction.flow == X86_REPEAT ? PT_BLOCK_SEQUENTIAL
                                                 : (uint8_t)block_kind(instruction.flow, true);
    block->target = instruction.target;
    pt_code_block_describe(block);
    return made;
}

struct pt_code_block *code_cache_get(struct code_cache *cache, uint64_t pc)
{
    struct cached_block *found;
    HASH_FIND(hh, cache->blocks, &pc, sizeof pc, found);
    if (found)
        return &found->block;
    uint8_t bytes[BLOCK_BYTES];
    size_t size = read_code(cache->pid, pc, bytes);
    found = make_block(pc, bytes, size);
    if (found->block.instructions == 0) {
        free(found);
        return NULL;
    }
    HASH_ADD(hh, cache->blocks, pc, sizeof found->pc, found);
    return &found->block;
}

bool code_cache_pushes_flags(const struct pt_code_block *block)
{
    const char *start = (const char *)block - offsetof(struct cached_block, block);
    return ((const struct cached_block *)(const void *)start)->pushes_flags;
}

void code_cache_forget(struct code_cache *cache)
{
    struct cached_block *block, *next;
    HASH_ITER(hh, cache->blocks, block, next)
    {
        HASH_DEL(cache->blocks, block);
        free(block);
    }
}
