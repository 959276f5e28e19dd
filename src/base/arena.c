#include "base/arena.h"

#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

enum { ALIGNMENT = 16, CHUNK_SIZE = 64 * 1024 };

struct arena_chunk {
    struct arena_chunk *next;
    _Alignas(ALIGNMENT) char bytes[];
};

static void *add_chunk(struct arena *arena, size_t size)
{
    struct arena_chunk *chunk = memory_allocate(sizeof *chunk + size);
    chunk->next = arena->chunks;
    arena->chunks = chunk;
    return chunk->bytes;
}

void *arena_allocate(struct arena *arena, size_t size)
{
    size = (size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    /* A large allocation gets a chunk of its own; the current one stays in use. */
    if (size > CHUNK_SIZE / 4)
        return add_chunk(arena, size);
    if ((size_t)(arena->end - arena->next) < size) {
        arena->next = add_chunk(arena, CHUNK_SIZE);
        arena->end = arena->next + CHUNK_SIZE;
    }
    void *memory = arena->next;
    arena->next += size;
    return memory;
}

char *arena_copy_string(struct arena *arena, const char *string)
{
    size_t size = strlen(string) + 1;
    return memcpy(arena_allocate(arena, size), string, size);
}

void arena_free(struct arena *arena)
{
    for (struct arena_chunk *chunk = arena->chunks; chunk;) {
        struct arena_chunk *next = chunk->next;
        free(chunk);
        chunk = next;
    }
    *arena = (struct arena){0};
}
