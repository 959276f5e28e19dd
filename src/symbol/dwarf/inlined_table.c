#include "symbol/dwarf/inlined_table.h"

#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

struct inlined_function {
    const void *object;
    const char *symbol; /* NULL: the slot is free */
    function_id function;
};

void inlined_table_free(struct inlined_table *table)
{
    for (size_t i = 0; i < INLINED_CHUNK_COUNT && table->chunks[i]; i++)
        free(table->chunks[i]);
    array_free(&table->functions);
}

inlined_id inlined_table_add(struct inlined_table *table, const struct inlined *inlined)
{
    inlined_id id = table->count == 0 ? 1 : table->count; /* 0 is INLINED_NONE */
    if (id / INLINED_CHUNK_RECORDS >= INLINED_CHUNK_COUNT)
        return INLINED_NONE;
    struct inlined *chunk = table->chunks[id / INLINED_CHUNK_RECORDS];
    if (!chunk) {
        chunk = memory_allocate_zeroed(INLINED_CHUNK_RECORDS * sizeof *chunk);
        atomic_store_explicit(&table->chunks[id / INLINED_CHUNK_RECORDS], chunk,
                              memory_order_release);
    }
    chunk[id % INLINED_CHUNK_RECORDS] = *inlined;
    table->count = id + 1;
    return id;
}

static uint64_t hash_of(const void *object, const char *symbol)
{
    uint64_t hash = (uintptr_t)object;
    for (; *symbol; symbol++)
        hash = (hash ^ (uint8_t)*symbol) * UINT64_C(0x100000001b3);
    return hash * UINT64_C(0x9e3779b97f4a7c15) >> 32;
}

static struct inlined_function *find_slot(const struct array *functions, const void *object,
                                          const char *symbol)
{
    size_t index = hash_of(object, symbol);
    struct inlined_function *slot;
    do
        slot = array_at(functions, index++ & (functions->count - 1));
    while (slot->symbol && (slot->object != object || strcmp(slot->symbol, symbol) != 0));
    return slot;
}

static void grow(struct inlined_table *table)
{
    struct array old = table->functions;
    size_t count = old.count ? 2 * old.count : 256;
    table->functions = array_of(sizeof(struct inlined_function));
    array_reserve(&table->functions, count);
    while (table->functions.count < count)
        array_add(&table->functions);
    for (size_t i = 0; i < old.count; i++) {
        const struct inlined_function *known = array_at(&old, i);
        if (known->symbol)
            *find_slot(&table->functions, known->object, known->symbol) = *known;
    }
    array_free(&old);
}

function_id *inlined_table_function(struct inlined_table *table, const void *object,
                                    const char *symbol)
{
    if (2 * table->function_count >= table->functions.count)
        grow(table);
    struct inlined_function *slot = find_slot(&table->functions, object, symbol);
    if (!slot->symbol) {
        *slot = (struct inlined_function){object, symbol, FUNCTION_UNKNOWN};
        table->function_count++;
    }
    return &slot->function;
}
