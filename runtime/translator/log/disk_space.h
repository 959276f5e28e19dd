/* The arena is a sparse file: a page takes its place on the disk when it is written first. On a full disk that write
 * raises SIGBUS, which would kill the program.
 *
 * Called before anything is written to a page of the arena that may be new.
 */
#ifndef MAGIC_TRACE_RUNTIME_TRANSLATOR_DISK_SPACE_H
#define MAGIC_TRACE_RUNTIME_TRANSLATOR_DISK_SPACE_H

#include <stdbool.h>
#include <stdint.h>

/* The first page of [start, end), which is mapped writable, that cannot be written; at or above `end`: all can. Their content stays as
 * it is. */
uint64_t tr_backed_until(uint64_t start, uint64_t end);

static inline bool tr_is_backed(uint64_t start, uint64_t size)
{
    return tr_backed_until(start, start + size) >= start + size;
}

#endif
