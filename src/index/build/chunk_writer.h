/* The chunks of one track at one level while they are made: bytes are gathered until a chunk is
 * full, then they go to the file and its entry stays for the directory.
 *
 * Called by track_builder.c and levels_of_detail.c.
 */
#ifndef MAGIC_TRACE_INDEX_BUILD_CHUNK_WRITER_H
#define MAGIC_TRACE_INDEX_BUILD_CHUNK_WRITER_H

#include "base/array.h"
#include "index/build/index_file.h"
#include "index/file/index_format.h"

struct chunk_writer {
    uint8_t *bytes; /* of the chunk that is being filled; owned */
    size_t used, capacity;
    uint32_t count;      /* items of that chunk */
    struct array chunks; /* of struct index_chunk: those written */
    uint64_t first_end, last_end;
};

struct chunk_writer chunk_writer_new(void);
void chunk_writer_free(struct chunk_writer *writer);

/* Room for an item of at most `size` bytes that ends at `end`; chunk_writer_added() says how far it
 * was used. */
uint8_t *chunk_writer_add(struct chunk_writer *writer, uint64_t end, size_t size);
void chunk_writer_added(struct chunk_writer *writer, const uint8_t *limit);

/* Writes the chunk, which must not be empty. */
void chunk_writer_flush(struct chunk_writer *writer, struct index_file *file, uint32_t crossing);

#endif
