/* The code cache: regions of memory near the code that they serve, and arrays that grow in place.
 *
 * A region has two parts: hot, for fragments, and cold, for what runs rarely (exits that are not linked yet, entries
 * for indirect branches, constants). Both only grow. Under process->lock.
 */
#ifndef MAGIC_TRACE_RUNTIME_TRANSLATOR_CACHE_H
#define MAGIC_TRACE_RUNTIME_TRANSLATOR_CACHE_H

#include "runtime/translator/thread.h"

/* Memory that is reserved at once and made usable as it is needed. */
struct tr_area {
    uint8_t *start;
    uint64_t used, ready, size; /* bytes */
    uint32_t executable;        /* bool */
};

enum {
    TR_REGION_SHIFT = 27, /* each part of a region has 2^27 bytes */
    TR_REGION_PART = 1 << TR_REGION_SHIFT,
    TR_REGIONS = 8,
};

struct tr_region {
    struct tr_area hot, cold;
    /* uint32_t: which fragments lie in `hot`, in the order of their addresses */
    struct tr_area fragments;
};

struct tr_cache {
    struct tr_region regions[TR_REGIONS];
    uint32_t region_count;
};

extern struct tr_cache tr_cache __attribute__((visibility("hidden")));

/* Reserves `size` bytes anywhere. False when there is no address space. */
bool tr_area_reserve(struct tr_area *area, uint64_t size);

/* Makes the next `size` bytes usable, without taking them. False when there is no memory. */
bool tr_area_prepare(struct tr_area *area, uint64_t size);

/* The region for code at `pc`, made when all are too far away; both parts prepared for one more fragment. NULL:
 * no memory. */
struct tr_region *tr_cache_region(uint64_t pc);

/* Where a cache address lies. */
struct tr_region *tr_cache_find(uint64_t address);

/* Names a cold place in 32 bits, for hot.exit. */
uint32_t tr_cold_name(const struct tr_region *region, const void *place);
void *tr_cold_place(uint64_t name);

#endif
