#include "runtime/translator/own_memory.h"

#include "runtime/translator/layout.h"
#include "runtime/translator/places.h"
#include "runtime/translator/system.h"

#include <asm/unistd.h>
#include <linux/mman.h>
#include <linux/resource.h>
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

static uint64_t whole_pages(uint64_t size)
{
    return (size + TR_PAGE - 1) & ~(uint64_t)(TR_PAGE - 1);
}

static _Atomic uint64_t next_place = TR_PLACE + TR_PLACE_OWN;

void tr_own_begin_at(uint64_t address)
{
    atomic_store(&next_place, address);
}

int64_t tr_own_mmap(uint64_t size, uint64_t protection, uint64_t flags)
{
    uint64_t place = atomic_fetch_add(&next_place, whole_pages(size));
    return tr_syscall6(__NR_mmap, place, size, protection, flags, (uint64_t)-1, 0);
}

static struct own_block *make_block(void)
{
    int64_t address =
        tr_own_mmap(sizeof(struct own_block), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS);
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

/* --- The program's limit of its address space --- */

enum {
    AT_ONCE = 4 << 20, /* bytes: threads that map at the same time do not know of each other */
    LATER = 1 << 30,   /* bytes that the runtime may map under a filter */
};

static _Atomic uint64_t program_limit = UINT64_MAX, kernel_limit = UINT64_MAX;
static _Atomic bool limit_is_fixed;

static uint64_t own_size(void)
{
    uint64_t size = 0;
    for (struct own_block *block = &first_block; block; block = atomic_load(&block->next)) {
        uint32_t taken = atomic_load(&block->taken);
        for (uint32_t i = 0; i < taken && i < RANGES; i++) {
            uint64_t start = atomic_load(&block->slots[i].start);
            size += start ? block->slots[i].end - start : 0;
        }
    }
    return size;
}

static uint64_t add(uint64_t a, uint64_t b)
{
    return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

static uint64_t limit_with(uint64_t more)
{
    uint64_t limit = atomic_load(&program_limit);
    atomic_store(&kernel_limit, add(limit, own_size() + more));
    return atomic_load(&kernel_limit);
}

uint64_t tr_own_limit(uint64_t bytes)
{
    atomic_store(&program_limit, bytes);
    return limit_with(atomic_load(&limit_is_fixed) ? LATER : AT_ONCE);
}

uint64_t tr_own_limit_in_kernel(void)
{
    return atomic_load(&kernel_limit);
}

/* The soft limit alone changes. */
static void set_kernel_limit(uint64_t bytes)
{
    struct rlimit64 limit;
    if (tr_syscall6(__NR_prlimit64, 0, RLIMIT_AS, 0, (uint64_t)&limit, 0, 0) != 0)
        return;
    limit.rlim_cur = bytes < limit.rlim_max ? bytes : limit.rlim_max;
    tr_syscall6(__NR_prlimit64, 0, RLIMIT_AS, (uint64_t)&limit, 0, 0, 0);
}

void tr_own_make_room(uint64_t size)
{
    if (atomic_load(&program_limit) != UINT64_MAX && !atomic_load(&limit_is_fixed))
        set_kernel_limit(limit_with(size + AT_ONCE));
}

void tr_own_fix_limit(void)
{
    tr_own_make_room(LATER);
    atomic_store(&limit_is_fixed, true);
}

bool tr_own_limit_is_fixed(void)
{
    return atomic_load(&limit_is_fixed);
}

/* --- Mapping --- */

bool tr_own_add(uint64_t start, uint64_t size)
{
    for (struct own_block *block = &first_block; block; block = next_block(block)) {
        if (atomic_load(&block->taken) >= RANGES)
            continue;
        uint32_t index = atomic_fetch_add(&block->taken, 1);
        if (index >= RANGES)
            continue;
        block->slots[index].end = start + whole_pages(size);
        atomic_store(&block->slots[index].start, start);
        return true;
    }
    return false;
}

void *tr_own_map(size_t size)
{
    tr_own_make_room(size);
    int64_t address = tr_own_mmap(size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS);
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
void tr_own_unmap_all(uint64_t kept, uint64_t also)
{
    uint64_t limit = atomic_load(&program_limit);
    for (struct own_block *block = &first_block, *next; block; block = next) {
        next = atomic_load(&block->next);
        for (uint32_t i = RANGES; i-- > 0;) {
            uint64_t start = atomic_load(&block->slots[i].start), end = block->slots[i].end;
            if (start != 0 && start != kept && also - start >= end - start)
                tr_syscall(__NR_munmap, start, end - start, 0);
        }
    }
    if (limit != UINT64_MAX && !atomic_load(&limit_is_fixed))
        set_kernel_limit(limit);
}
