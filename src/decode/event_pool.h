/* Memory for a worker's events, reused all the time.
 *
 * The chunk that was returned last is given out first: most of it is still in the processor's
 * cache. Taken by the worker, returned by the thread that has passed the events on
 * (reorder_buffer.c).
 */
#ifndef MAGIC_TRACE_DECODE_EVENT_POOL_H
#define MAGIC_TRACE_DECODE_EVENT_POOL_H

#include "base/array.h"
#include "decode/flow_event.h"

#include <pthread.h>

/* Owned by its holder, freed by free(). */
struct event_chunk {
    struct flow_event *events; /* NULL if capacity is 0 */
    size_t capacity;
};

struct event_pool {
    pthread_mutex_t lock;
    struct array chunks; /* struct event_chunk */
};

void event_pool_init(struct event_pool *pool);
/* Frees the chunks that have been returned; others belong to their holders. */
void event_pool_free(struct event_pool *pool);

/* A chunk for at least `capacity` events, not initialised. */
struct event_chunk event_pool_get(struct event_pool *pool, size_t capacity);
void event_pool_put(struct event_pool *pool, struct event_chunk chunk);

#endif
