#include "engine/packets/kept_parts.h"

#include <stdlib.h>

static int by_begin(const void *left, const void *right)
{
    const struct kept_part *a = left, *b = right;
    return (a->begin > b->begin) - (a->begin < b->begin);
}

/* What touches becomes one. */
static void join(struct array *parts)
{
    struct kept_part *all = parts->elements;
    size_t count = 0;
    if (parts->count > 1)
        qsort(all, parts->count, sizeof *all, by_begin);
    for (size_t i = 0; i < parts->count; i++) {
        if (count > 0 && all[i].begin <= all[count - 1].end) {
            if (all[i].end > all[count - 1].end)
                all[count - 1].end = all[i].end;
        } else {
            all[count++] = all[i];
        }
    }
    parts->count = count;
}

/* Where what belongs to a snapshot at the ring's end begins. */
static uint64_t begin_of_end(const struct recorded *recorded, const struct ring *ring)
{
    uint64_t head = atomic_load(&ring->encoder.head), reach = recorded->snapshot_size;
    return reach > 0 && head > reach ? head - reach : 0;
}

void kept_parts(struct array *parts, const struct recorded *recorded, const struct ring *ring,
                const struct array *logged)
{
    const struct packet_ring *header = ring->header;
    uint64_t begin = begin_of_end(recorded, ring);
    struct kept_part last = {.serial = header->serial, .begin = begin, .end = UINT64_MAX};
    if (!recorded->multi_snapshot) {
        *(struct kept_part *)array_add(parts) = last;
        return;
    }
    for (size_t i = 0; i < logged->count; i++) {
        const struct kept_part *part = array_at(logged, i);
        if (part->serial == header->serial)
            *(struct kept_part *)array_add(parts) = *part;
    }
    last.begin = atomic_load(&header->undecided);
    if (recorded->snapshots == 0 && last.begin < begin)
        last.begin = begin;
    if (recorded->snapshots == 0 || recorded->snapshots != atomic_load(&header->seen_snapshots) ||
        atomic_load(&header->owed))
        *(struct kept_part *)array_add(parts) = last;
    join(parts);
}
