/* Which parts of a ring go into the recording.
 *
 * All of it, except when several snapshots could be taken: then what its thread decided to keep
 * (runtime/qemu_plugin/kept_ranges.h), and of what it left undecided what the same rule keeps. When no snapshot
 * was taken at all, it is the end of the ring, as of every recording.
 */
#ifndef MAGIC_TRACE_ENGINE_PACKETS_KEPT_PARTS_H
#define MAGIC_TRACE_ENGINE_PACKETS_KEPT_PARTS_H

#include "base/array.h"
#include "engine/packets/recorded.h"
#include "engine/packets/ring.h"

/* From the log. */
struct kept_part {
    uint32_t serial; /* of the ring */
    uint64_t begin, end;
};

/* Appends the parts (of struct kept_part) of `ring`, ascending and apart from each other; `logged`
 * are those of all rings. */
void kept_parts(struct array *parts, const struct recorded *recorded, const struct ring *ring,
                const struct array *logged);

#endif
