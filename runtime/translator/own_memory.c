#include "runtime/translator/own_memory.h"

#include "runtime/translator/layout.h"
#include "runtime/translator/system.h"

#include <asm/unistd.h>
#include <linux/mman.h>
#include <stdatomic.h>

enum { RANGES = 254 };

/* `start` is 0 until the range is valid. */
struct own_slot {
    _Atomic uint64_t start;
    uint64_t end;
};

struct own_block {
    _Atomic(struct own_block *) next;
    _Atomic uint32_t taken; /* slots handed out; more than RANGES when the block is full */
    struct own_slot slots[RANGES];
};

static struct own_block first_block;

static struct own_block *make_block(void)
{
    int64_t address = tr_syscall6(__NR_mmap, 0, sizeof(struct own_block), PROT_READ | PROT_WRITE,
                                  MAP_PRIVATE | MAP_ANONYMOUS, (uint64_t)-1, 0);
    if (address < 0)
        return NULL;
    struct own_block *block = (struct own_block *)address;
    block->taken = 1;
    block->slots[0].end = (uint64_t)address + sizeof(struct own_block);
    block->slots[0].start = (uint64_t)address;
    return block;
}

static struct own_block *next_block(struct own_block *block)
{
    struct own_block *next = atomic_load(&block->next);
    if (next)
        return next;
    struct own_block *made = make_block();
    if (!made)
        return NULL;
    if (atomic_compare_exchange_strong(&block->next, &next, made))
        return made;
    tr_syscall(__NR_munmap, (uint64_t)made, sizeof *made, 0);
    return next;
}

bool tr_own_add(uint64_t start, uint64_t size)
{
    for (struct own_block *block = &first_block; block; block = next_block(block)) {
        if (atomic_load(&block->taken) >= RANGES)
            continue;
        uint32_t index = atomic_fetch_add(&block->taken, 1);
        if (index >= RANGES)
            continue;
        block->slots[index].end = (start + size + TR_PAGE - 1) & ~(uint64_t)(TR_PAGE - 1);
        atomic_store(&block->slots[index].start, start);
        return true;
    }
    return false;
}

void *tr_own_map(size_t size)
{
    int64_t address = tr_syscall6(__NR_mmap, 0, size, PROT_READ | PROT_WRITE,
                                  MAP_PRIVATE | MAP_ANONYMOUS, (uint64_t)-1, 0);
    if (address < 0 || !tr_own_add((uint64_t)address, size))
        return NULL;
    return (void *)address;
}

static _Atomic bool populate_forbidden;

void tr_own_forbid_populate(void)
{
    atomic_store(&populate_forbidden, true);
}

bool tr_own_populate(uint64_t start, uint64_t size)
{
    return !atomic_load(&populate_forbidden) &&
           tr_syscall(__NR_madvise, start, size, MADV_POPULATE_WRITE) == 0;
}

void tr_own_remove(uint64_t start)
{
    for (struct own_block *block = &first_block; block; block = atomic_load(&block->next))
        for (uint32_t i = 0; i < RANGES; i++) {
            uint64_t found = start;
            if (atomic_compare_exchange_strong(&block->slots[i].start, &found, 0))
                return;
        }
}

bool tr_own_next(uint64_t address, struct tr_own_range *range)
{
    bool found = false;
    for (struct own_block *block = &first_block; block; block = atomic_load(&block->next)) {
        uint32_t taken = atomic_load(&block->taken);
        for (uint32_t i = 0; i < taken && i < RANGES; i++) {
            uint64_t start = atomic_load(&block->slots[i].start), end = block->slots[i].end;
            if (start == 0 || end <= address || (found && start >= range->start))
                continue;
            *range = (struct tr_own_range){start, end};
            found = true;
        }
    }
    return found;
}

bool tr_own_overlaps(uint64_t start, uint64_t end)
{
    struct tr_own_range range;
    return tr_own_next(start, &range) && range.start < end;
}

/* A block of ranges lies in a range of its own, the first one of the block. */
void tr_own_unmap_all(uint64_t kept)
{
    for (struct own_block *block = &first_block, *next; block; block = next) {
        next = atomic_load(&block->next);
        for (uint32_t i = RANGES; i-- > 0;) {
            uint64_t start = atomic_load(&block->slots[i].start), end = block->slots[i].end;
            if (start != 0 && start != kept)
                tr_syscall(__NR_munmap, start, end - start, 0);
        }
    }
}
