/* Memory for a worker's events, used again and again.
 *
 * What has been used last is given first: most of it is still in the processor's cache, and the
 * kernel need not be asked for pages. Taken by the worker, given back by whichever thread has
 * passed the events on (reorder_buffer.c).
 */
#ifndef MAGIC_TRACE_DECODE_EVENT_POOL_H
#define MAGIC_TRACE_DECODE_EVENT_POOL_H

#include "base/array.h"
#include "decode/flow_event.h"

#include <pthread.h>

/* Owned by whoever has it, freed by free(). */
struct event_chunk {
    struct flow_event *events; /* NULL where capacity is 0 */
    size_t capacity;
};

struct event_pool {
    pthread_mutex_t lock;
    struct array chunks; /* struct event_chunk */
};

void event_pool_init(struct event_pool *pool);
/* When all chunks have been given back; others stay their owner's. */
void event_pool_free(struct event_pool *pool);

/* A chunk for at least `capacity` events, not initialised. */
struct event_chunk event_pool_get(struct event_pool *pool, size_t capacity);
void event_pool_put(struct event_pool *pool, struct event_chunk chunk);

#endif
