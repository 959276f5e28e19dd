#include "decode/pt/blocks/shared_blocks.h"

#include "base/memory.h"

#include <stdlib.h>

enum {
    ENTRY_BITS = 18, /* eight megabytes */
    ENTRIES = 1 << ENTRY_BITS,
    ENTRIES_AT_MOST = ENTRIES / 4 * 3,
    PAGE_BITS = 12,      /* of code; its blocks have their entries close together, so that ... */
    PAGE_ENTRY_BITS = 8, /* ... lookups touch few pages of the table */
};

void shared_blocks_init(struct shared_blocks *shared)
{
    *shared = (struct shared_blocks){
        .entries = memory_allocate_cleared(ENTRIES * sizeof(*shared->entries))};
    pthread_mutex_init(&shared->lock, NULL);
}

void shared_blocks_free(struct shared_blocks *shared)
{
    pthread_mutex_destroy(&shared->lock);
    free(shared->entries);
}

static size_t first_place(uint64_t bytes)
{
    uint64_t hash = (bytes >> PAGE_BITS) * UINT64_C(0x9e3779b97f4a7c15);
    uint64_t page = hash >> (64 - ENTRY_BITS + PAGE_ENTRY_BITS);
    uint64_t in_page = bytes >> (PAGE_BITS - PAGE_ENTRY_BITS) & ((1 << PAGE_ENTRY_BITS) - 1);
    return (size_t)(page << PAGE_ENTRY_BITS | in_page);
}

/* The entry of these bytes, or the free one to use for them. */
static struct shared_block *entry_of(const struct shared_blocks *shared, const uint8_t *bytes,
                                     const uint8_t **key)
{
    size_t at = first_place((uintptr_t)bytes);
    for (;;) {
        struct shared_block *entry = &shared->entries[at];
        *key = atomic_load_explicit(&entry->bytes, memory_order_acquire);
        if (!*key || *key == bytes)
            return entry;
        at = (at + 1) % ENTRIES;
    }
}

bool shared_blocks_find(const struct shared_blocks *shared, const uint8_t *bytes, size_t size,
                        struct block *block)
{
    const uint8_t *key;
    const struct shared_block *entry = entry_of(shared, bytes, &key);
    if (!key || entry->length > size)
        return false;
    block->next = block->ip + entry->length;
    block->last = block->ip + entry->last;
    block->instructions = entry->instructions;
    block->kind = entry->kind;
    block->direct = entry->direct;
    block->target = entry->has_target ? block->ip + (uint64_t)entry->target : 0;
    block->reads_own_address = entry->reads_own_address;
    block->is_ptwrite = entry->is_ptwrite;
    return true;
}

void shared_blocks_add(struct shared_blocks *shared, const uint8_t *bytes,
                       const struct block *block)
{
    const uint8_t *key;
    pthread_mutex_lock(&shared->lock);
    struct shared_block *entry = entry_of(shared, bytes, &key);
    if (!key && shared->count < ENTRIES_AT_MOST) {
        shared->count++;
        entry->target = (int64_t)(block->target - block->ip);
        entry->length = (uint16_t)(block->next - block->ip);
        entry->last = (uint16_t)(block->last - block->ip);
        entry->instructions = (uint16_t)block->instructions;
        entry->kind = block->kind;
        entry->direct = block->direct;
        entry->has_target = block->direct || block->kind == BRANCH_CONDITIONAL;
        entry->reads_own_address = block->reads_own_address;
        entry->is_ptwrite = block->is_ptwrite;
        atomic_store_explicit(&entry->bytes, bytes, memory_order_release);
    }
    pthread_mutex_unlock(&shared->lock);
}
