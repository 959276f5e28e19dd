/* All inlined calls that `struct symbols` knows, by their number, and the functions that they are
 * calls of.
 *
 * A part of symbols.c, which adds under its lock; what has been added is read without one.
 */
#ifndef MAGIC_TRACE_SYMBOL_INLINED_TABLE_H
#define MAGIC_TRACE_SYMBOL_INLINED_TABLE_H

#include "base/array.h"
#include "symbol/dwarf/inlined.h"

#include <stdatomic.h>

/* Records never move: a chunk at a time is allocated. */
enum { INLINED_CHUNK_RECORDS = 4096, INLINED_CHUNK_COUNT = 16384 };

struct inlined_table {
    inlined_id count; /* of numbers in use, INLINED_NONE included; 0: the table is still empty */
    struct inlined *_Atomic chunks[INLINED_CHUNK_COUNT];
    struct array functions; /* struct inlined_function, open addressing */
    size_t function_count;
};

void inlined_table_free(struct inlined_table *table);

/* INLINED_NONE when all numbers are in use. */
inlined_id inlined_table_add(struct inlined_table *table, const struct inlined *inlined);

/* Of a number other than INLINED_NONE. */
static inline const struct inlined *inlined_table_call(const struct inlined_table *table,
                                                       inlined_id id)
{
    const struct inlined *chunk =
        atomic_load_explicit(&table->chunks[id / INLINED_CHUNK_RECORDS], memory_order_acquire);
    return &chunk[id % INLINED_CHUNK_RECORDS];
}

static inline const struct inlined *inlined_table_at(const struct inlined_table *table,
                                                     inlined_id id)
{
    static const struct inlined none = {.function = FUNCTION_UNKNOWN};
    return id == INLINED_NONE ? &none : inlined_table_call(table, id);
}

/* Where the id of the function is kept that `object` calls `symbol`; FUNCTION_UNKNOWN: not known
 * yet, and to be set. Valid until the next call; `symbol` must live as long as the table. */
function_id *inlined_table_function(struct inlined_table *table, const void *object,
                                    const char *symbol);

#endif
