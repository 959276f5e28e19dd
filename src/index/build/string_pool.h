/* The strings of an index while it is built: each text once, named by its offset.
 *
 * Called by the parts of the builder. Memory: the texts and 100 bytes each.
 */
#ifndef MAGIC_TRACE_INDEX_BUILD_STRING_POOL_H
#define MAGIC_TRACE_INDEX_BUILD_STRING_POOL_H

#include "base/arena.h"
#include "base/array.h"

struct string_pool {
    struct array bytes;           /* of char */
    struct pooled_string *lookup; /* by text */
    struct arena memory;
};

void string_pool_init(struct string_pool *pool);
void string_pool_free(struct string_pool *pool);

/* Where `text` stands; INDEX_NO_STRING for NULL, and when the pool is full (4 GB). */
uint32_t string_pool_add(struct string_pool *pool, const char *text);

/* The same; an empty text for none. */
uint32_t string_pool_add_name(struct string_pool *pool, const char *text);

#endif
