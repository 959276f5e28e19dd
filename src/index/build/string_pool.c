#include "index/build/string_pool.h"

#include "index/file/index_format.h"

#include <string.h>
#include <uthash.h>

struct pooled_string {
    char *text;
    uint32_t offset;
    UT_hash_handle hh; /* by text */
};

void string_pool_init(struct string_pool *pool)
{
    *pool = (struct string_pool){.bytes = array_of(sizeof(char))};
    string_pool_add(pool, ""); /* at offset 0, so that every index has one string */
}

void string_pool_free(struct string_pool *pool)
{
    HASH_CLEAR(hh, pool->lookup);
    array_free(&pool->bytes);
    arena_free(&pool->memory);
}

uint32_t string_pool_add(struct string_pool *pool, const char *text)
{
    if (!text)
        return INDEX_NO_STRING;
    size_t length = strlen(text);
    struct pooled_string *found;
    HASH_FIND(hh, pool->lookup, text, length, found);
    if (found)
        return found->offset;
    if (pool->bytes.count + length + 1 > INDEX_NO_STRING)
        return INDEX_NO_STRING;
    found = arena_allocate(&pool->memory, sizeof *found);
    *found = (struct pooled_string){
        .text = arena_copy_string(&pool->memory, text),
        .offset = (uint32_t)pool->bytes.count,
    };
    HASH_ADD_KEYPTR(hh, pool->lookup, found->text, length, found);
    array_add_all(&pool->bytes, text, length + 1);
    return found->offset;
}

uint32_t string_pool_add_name(struct string_pool *pool, const char *text)
{
    uint32_t offset = string_pool_add(pool, text);
    return offset == INDEX_NO_STRING ? 0 : offset;
}
