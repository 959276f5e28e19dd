/* Writes bytes to a file in blocks, which a second thread compresses and writes.
 *
 * The trace writer fills a block while the previous ones are being compressed. Compression is
 * isa-l's, level 1, one gzip member: docs/compression.md has the figures that chose it. One member,
 * because Perfetto takes 32 MiB of memory per member.
 *
 * An error (disk full) is kept and reported by block_writer_finish; until then further bytes are
 * dropped. block_writer_failed lets a long loop stop early.
 */
#ifndef MAGIC_TRACE_OUTPUT_BLOCK_WRITER_H
#define MAGIC_TRACE_OUTPUT_BLOCK_WRITER_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The most that block_writer_reserve gives at once, in bytes. */
enum { BLOCK_WRITER_RESERVE_MAX = 1 << 16 };

struct block_writer {
    uint8_t *next, *end; /* free part of the block being filled */
    struct block_pipe *pipe;
};

/* Bytes go to `descriptor`, which stays the caller's; `path` is for messages and must live as long.
 */
bool block_writer_open(struct block_writer *writer, int descriptor, const char *path, bool gzip,
                       struct error *error);

/* Hands the block being filled on, and takes an empty one. */
void block_writer_next_block(struct block_writer *writer);

/* True if `size` bytes can be reserved in the block being filled. */
static inline bool block_writer_holds(const struct block_writer *writer, size_t size)
{
    return (size_t)(writer->end - writer->next) >= size;
}

/* Room for `size` bytes, which are part of the file from now on and must be filled before the next
 * call. */
static inline void *block_writer_reserve(struct block_writer *writer, size_t size)
{
    if (!block_writer_holds(writer, size))
        block_writer_next_block(writer);
    uint8_t *room = writer->next;
    writer->next += size;
    return room;
}

/* Takes back the last `size` bytes of what was reserved just now. */
static inline void block_writer_give_back(struct block_writer *writer, size_t size)
{
    writer->next -= size;
}

bool block_writer_failed(const struct block_writer *writer);

/* Writes the rest, ends the gzip member and frees the writer. False: some bytes were not written.
 */
bool block_writer_finish(struct block_writer *writer, struct error *error);

#endif
