/* Reads the sideband log that traced processes write (sideband_layout.h).
 *
 * Writers reserve their place with one atomic add and fill it afterwards, so a writer that was
 * killed leaves a hole: zeros, or a record whose `ready` is not set. The reader skips holes, 16
 * bytes at a time, up to the next complete record, and rejects sizes that do not fit.
 */
#ifndef MAGIC_TRACE_ENGINE_PACKETS_LOG_READER_H
#define MAGIC_TRACE_ENGINE_PACKETS_LOG_READER_H

#include "engine/packets/sideband_layout.h"

#include <stddef.h>

/* Fill `log` and `size`, leave `offset` 0. */
struct log_reader {
    const unsigned char *log; /* 16-byte aligned */
    size_t size;
    size_t offset; /* of what is looked at next */
};

/* The next complete record, within `log`, its string NUL-terminated within its size; NULL at the
 * end. */
const struct logged_record *log_reader_next(struct log_reader *reader);

#endif
