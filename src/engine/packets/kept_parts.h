/* Which parts of a ring go into the recording.
 *
 * Its end, as much as belongs to a snapshot, or all. When several snapshots could be taken: what its thread
 * (runtime/qemu_plugin/kept_ranges.h) or the recorder (engine/translator/transcode/snapshot_ranges.h) decided to keep, and of what
 * was left undecided what the same rule keeps; and when none was taken at all, the end of the ring.
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
