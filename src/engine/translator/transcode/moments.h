/* With the instruction clock: what the ticks in a thread's log are in its count of instructions.
 *
 * Traced processes know no count of instructions: their sideband records have ticks. The transcoder notes both
 * where something happened that records may be of: system calls, signals, trigger hits, new code.
 */
#ifndef MAGIC_TRACE_ENGINE_TRANSLATOR_MOMENTS_H
#define MAGIC_TRACE_ENGINE_TRANSLATOR_MOMENTS_H

#include "base/array.h"

#include <stdint.h>

struct moments {
    uint64_t start;     /* counted, of the thread's first instruction */
    struct array noted; /* of struct moment, in order */
};

void moments_init(struct moments *moments, uint64_t start);
void moments_free(struct moments *moments);

/* Neither goes back. */
void moments_add(struct moments *moments, uint64_t ticks, uint64_t counted);

/* The count at the latest moment up to `ticks`. */
uint64_t moments_convert(const struct moments *moments, uint64_t ticks);

#endif
