#include "view/chunk_writer.h"

#include "base/memory.h"

struct chunk_writer chunk_writer_new(void)
{
    return (struct chunk_writer){
        .bytes = array_of(sizeof(uint8_t)),
        .chunks = array_of(sizeof(struct index_chunk)),
    };
}

void chunk_writer_free(struct chunk_writer *writer)
{
    array_free(&writer->bytes);
    array_free(&writer->chunks);
}

uint8_t *chunk_writer_add(struct chunk_writer *writer, uint64_t end, size_t size)
{
    struct array *bytes = &writer->bytes;
    if (bytes->capacity - bytes->count < size) {
        bytes->capacity = 2 * (bytes->capacity + size);
        bytes->elements = memory_resize(bytes->elements, bytes->capacity);
    }
    if (writer->count++ == 0)
        writer->first_end = end;
    writer->last_end = end;
    return array_at(bytes, bytes->count);
}

void chunk_writer_added(struct chunk_writer *writer, const uint8_t *limit)
{
    writer->bytes.count = (size_t)(limit - (const uint8_t *)writer->bytes.elements);
}

void chunk_writer_flush(struct chunk_writer *writer, struct index_file *file, uint32_t crossing)
{
    *(struct index_chunk *)array_add(&writer->chunks) = (struct index_chunk){
        .offset = index_file_chunk_bytes(file),
        .first_end = writer->first_end,
        .last_end = writer->last_end,
        .size = (uint32_t)writer->bytes.count,
        .count = writer->count,
        .crossing = crossing,
    };
    index_file_append(file, writer->bytes.elements, writer->bytes.count);
    writer->bytes.count = 0;
    writer->count = 0;
}
