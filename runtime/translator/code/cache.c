#include "runtime/translator/code/cache.h"

#include "runtime/translator/own_memory.h"
#include "runtime/translator/system.h"

#include <asm/unistd.h>
#include <linux/mman.h>

struct tr_cache tr_cache;

enum {
    STEP = 1 << 16,          /* bytes that an area grows by */
    LARGEST_FRAGMENT = 8192, /* bytes that a fragment may take, in either part of a region */
    REGION = 2 << TR_REGION_SHIFT,
    RESERVED = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
};

static const uint64_t near_enough = (UINT64_C(1) << 31) - (UINT64_C(4) << TR_REGION_SHIFT);

bool tr_area_reserve(struct tr_area *area, uint64_t size)
{
    tr_own_make_room(size);
    int64_t address = tr_own_mmap(size, PROT_NONE, RESERVED);
    if (address < 0 || !tr_own_add((uint64_t)address, size))
        return false;
    *area = (struct tr_area){.start = (uint8_t *)address, .size = size};
    return true;
}

bool tr_area_prepare(struct tr_area *area, uint64_t size)
{
    if (area->used + size <= area->ready)
        return true;
    if (area->used + size > area->size)
        return false;
    uint64_t grow = (area->used + size - area->ready + STEP - 1) / STEP * STEP;
    if (area->ready + grow > area->size)
        grow = area->size - area->ready;
    uint64_t protection = PROT_READ | PROT_WRITE | (area->executable ? PROT_EXEC : 0);
    if (tr_syscall(__NR_mprotect, (uint64_t)area->start + area->ready, grow, protection) != 0)
        return false;
    /* Step by step all of it is used; an area that is made whole, such as a table, may stay empty for the most part. */
    if (grow == STEP)
        tr_own_populate((uint64_t)area->start + area->ready, grow);
    area->ready += grow;
    return true;
}

static uint64_t distance(uint64_t a, uint64_t b)
{
    return a > b ? a - b : b - a;
}

/* Whether a heap that ends at `heap_end` now could not grow by `room` with a region there. */
static bool is_in_way(uint64_t region, uint64_t heap_end, uint64_t room)
{
    return region + REGION > heap_end && region < heap_end + room;
}

static uint8_t *map(uint64_t hint)
{
    tr_own_make_room(REGION);
    int64_t address = tr_syscall6(__NR_mmap, hint, REGION, PROT_NONE, RESERVED, (uint64_t)-1, 0);
    return address < 0 ? NULL : (uint8_t *)address;
}

/* One of the places near the code that leaves the heap `room`; or NULL. Those below the code come first:
 * above a program is its heap. Where the kernel chooses another one, that may be a hole that the program has just made. */
static uint8_t *map_with_room(uint64_t pc, uint64_t heap_end, uint64_t room)
{
    static const int64_t offsets[] = {-3, -5, 3, 5, -1, 1, 2, 4, 6}; /* in regions */
    uint64_t base = pc & ~(uint64_t)(REGION - 1);
    for (unsigned i = 0; i < sizeof offsets / sizeof *offsets; i++) {
        uint64_t hint = base + (uint64_t)(offsets[i] * REGION);
        if (hint > UINT64_C(0x7fffffffffff) || hint < REGION || is_in_way(hint, heap_end, room) ||
            distance(hint, pc) >= near_enough)
            continue;
        uint8_t *at = map(hint);
        if ((uint64_t)at == hint)
            return at;
        if (at)
            tr_syscall(__NR_munmap, (uint64_t)at, REGION, 0);
    }
    return NULL;
}

/* The heap of a program at a fixed address begins anywhere within 1 GB above it (the kernel's arch_randomize_brk). */
static uint8_t *map_near(uint64_t pc)
{
    static const uint64_t amounts[] = {UINT64_C(1) << 30, UINT64_C(1) << 28, 0};
    uint64_t heap_end = (uint64_t)tr_syscall(__NR_brk, 0, 0, 0);
    uint8_t *at = NULL;
    for (unsigned i = 0; !at && i < sizeof amounts / sizeof *amounts; i++)
        at = map_with_room(pc, heap_end, amounts[i]);
    return at ? at : map(0);
}

static struct tr_region *make_region(uint64_t pc)
{
    if (tr_cache.region_count == TR_REGIONS)
        return NULL;
    struct tr_region *region = &tr_cache.regions[tr_cache.region_count];
    uint8_t *start = map_near(pc);
    if (!start || !tr_own_add((uint64_t)start, 2 * (uint64_t)TR_REGION_PART) ||
        !tr_area_reserve(&region->fragments, TR_REGION_PART / 8))
        return NULL;
    region->hot = (struct tr_area){.start = start, .size = TR_REGION_PART, .executable = 1};
    region->cold =
        (struct tr_area){.start = start + TR_REGION_PART, .size = TR_REGION_PART, .executable = 1};
    tr_cache.region_count++;
    return region;
}

static bool prepare(struct tr_region *region)
{
    return tr_area_prepare(&region->hot, LARGEST_FRAGMENT) &&
           tr_area_prepare(&region->cold, LARGEST_FRAGMENT) &&
           tr_area_prepare(&region->fragments, sizeof(uint32_t));
}

struct tr_region *tr_cache_region(uint64_t pc)
{
    struct tr_region *best = NULL;
    for (uint32_t i = 0; i < tr_cache.region_count; i++) {
        struct tr_region *region = &tr_cache.regions[i];
        if (distance((uint64_t)region->hot.start, pc) < near_enough && prepare(region))
            return region;
    }
    best = make_region(pc);
    if (best && prepare(best))
        return best;
    /* No more regions: any that has room will do, with longer code. */
    for (uint32_t i = 0; i < tr_cache.region_count; i++)
        if (prepare(&tr_cache.regions[i]))
            return &tr_cache.regions[i];
    return NULL;
}

struct tr_region *tr_cache_find(uint64_t address)
{
    for (uint32_t i = 0; i < tr_cache.region_count; i++) {
        struct tr_region *region = &tr_cache.regions[i];
        if (address - (uint64_t)region->hot.start < 2 * (uint64_t)TR_REGION_PART)
            return region;
    }
    return NULL;
}

uint32_t tr_cold_name(const struct tr_region *region, const void *place)
{
    uint32_t index = (uint32_t)(region - tr_cache.regions);
    return index << TR_REGION_SHIFT | (uint32_t)((const uint8_t *)place - region->cold.start);
}

void *tr_cold_place(uint64_t name)
{
    return tr_cache.regions[name >> TR_REGION_SHIFT].cold.start + (name & (TR_REGION_PART - 1));
}
