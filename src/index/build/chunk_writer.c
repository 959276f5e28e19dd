#include "index/build/chunk_writer.h"

#include "base/memory.h"

#include <stdlib.h>

struct chunk_writer chunk_writer_new(void)
{
    return (struct chunk_writer){.chunks = array_of(sizeof(struct index_chunk))};
}

void chunk_writer_free(struct chunk_writer *writer)
{
    free(writer->bytes);
    array_free(&writer->chunks);
}

uint8_t *chunk_writer_add(struct chunk_writer *writer, uint64_t end, size_t size)
{
    if (writer->capacity - writer->used < size) {
        writer->capacity = 2 * (writer->capacity + size);
        writer->bytes = memory_resize(writer->bytes, writer->capacity);
    }
    if (writer->count++ == 0)
        writer->first_end = end;
    writer->last_end = end;
    return writer->bytes + writer->used;
}

void chunk_writer_added(struct chunk_writer *writer, const uint8_t *limit)
{
    writer->used = (size_t)(limit - writer->bytes);
}

void chunk_writer_flush(struct chunk_writer *writer, struct index_file *file, uint32_t crossing)
{
    *(struct index_chunk *)array_add(&writer->chunks) = (struct index_chunk){
        .offset = index_file_chunk_bytes(file),
        .first_end = writer->first_end,
        .last_end = writer->last_end,
        .size = (uint32_t)writer->used,
        .count = writer->count,
        .crossing = crossing,
    };
    index_file_append(file, writer->bytes, writer->used);
    writer->used = 0;
    writer->count = 0;
}
