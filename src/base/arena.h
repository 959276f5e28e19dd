/* Memory that is freed all at once: names, paths, records of one recording.
 *
 * Allocation is a pointer bump; single allocations are not freed. Memory never moves. An all-zero
 * arena is empty and ready for use. Not shared between threads.
 */
#ifndef MAGIC_TRACE_BASE_ARENA_H
#define MAGIC_TRACE_BASE_ARENA_H

#include <stddef.h>

struct arena {
    struct arena_chunk *chunks; /* newest first; owned */
    char *next;
    char *end;
};

/* `size` bytes, aligned to 16, not initialised; valid until arena_free. */
void *arena_allocate(struct arena *arena, size_t size);
char *arena_copy_string(struct arena *arena, const char *string);
void arena_free(struct arena *arena);

#endif
