#include "decode/event_pool.h"

#include "base/memory.h"

#include <stdlib.h>

enum {
    /* Events. Enough for those that are usually held until their time is known, and few enough to
     * stay in the processor's cache. */
    CHUNK_CAPACITY = 4096,
};

void event_pool_init(struct event_pool *pool)
{
    pthread_mutex_init(&pool->lock, NULL);
    pool->chunks = array_of(sizeof(struct event_chunk));
}

void event_pool_free(struct event_pool *pool)
{
    for (size_t i = 0; i < pool->chunks.count; i++)
        free(((struct event_chunk *)array_at(&pool->chunks, i))->events);
    array_free(&pool->chunks);
    pthread_mutex_destroy(&pool->lock);
}

static struct event_chunk newest(struct event_pool *pool)
{
    struct event_chunk chunk = {0};
    pthread_mutex_lock(&pool->lock);
    if (pool->chunks.count)
        chunk = *(struct event_chunk *)array_at(&pool->chunks, --pool->chunks.count);
    pthread_mutex_unlock(&pool->lock);
    return chunk;
}

struct event_chunk event_pool_get(struct event_pool *pool, size_t capacity)
{
    struct event_chunk chunk = newest(pool);
    if (chunk.capacity && chunk.capacity >= capacity)
        return chunk;
    free(chunk.events);
    if (capacity < CHUNK_CAPACITY)
        capacity = CHUNK_CAPACITY;
    return (struct event_chunk){memory_allocate(capacity * sizeof(*chunk.events)), capacity};
}

void event_pool_put(struct event_pool *pool, struct event_chunk chunk)
{
    pthread_mutex_lock(&pool->lock);
    *(struct event_chunk *)array_add(&pool->chunks) = chunk;
    pthread_mutex_unlock(&pool->lock);
}
