#include "engine/translator/transcode/snapshot_ranges.h"

#include "engine/packets/log_reader.h"
#include "engine/translator/transcode/recorder_log.h"

#include <stdlib.h>

static const uint64_t step = 32 << 10; /* bytes of packets */

void snapshot_times_init(struct snapshot_times *times)
{
    *times = (struct snapshot_times){.ticks = array_of(sizeof(uint64_t))};
}

void snapshot_times_free(struct snapshot_times *times)
{
    array_free(&times->ticks);
}

static int by_value(const void *left, const void *right)
{
    uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;
    return (a > b) - (a < b);
}

/* A hit is counted before its record is complete: until all are there the log is read again from its beginning. */
void snapshot_times_update(struct snapshot_times *times, const struct translator_arena *arena)
{
    const struct tr_control *control = arena->control;
    uint64_t snapshots = atomic_load(&control->snapshots);
    if (snapshots == times->seen)
        return;
    if (times->read_to == 0)
        times->ticks.count = 0;
    struct log_reader reader = translator_arena_sideband(arena);
    reader.offset = times->read_to;
    for (const struct logged_record *record; (record = log_reader_next(&reader));)
        if (record->kind == LOGGED_HIT)
            *(uint64_t *)array_add(&times->ticks) = record->time;
    if (times->ticks.count > 1)
        qsort(times->ticks.elements, times->ticks.count, sizeof(uint64_t), by_value);
    bool complete = times->ticks.count + atomic_load(&control->lost_records) >= snapshots;
    times->read_to = complete ? reader.offset : 0;
    if (complete)
        times->seen = snapshots;
}

/* How many snapshots had been taken at `time`. */
static uint64_t count_until(const struct snapshot_times *times, uint64_t time)
{
    size_t first = 0, end = times->ticks.count; /* the first that is later */
    while (first < end) {
        size_t middle = first + (end - first) / 2;
        if (*(const uint64_t *)array_at(&times->ticks, middle) <= time)
            first = middle + 1;
        else
            end = middle;
    }
    return first;
}

void snapshot_ranges_settle(struct translator_arena *arena, uint32_t serial,
                            const struct packet_file *file, const struct snapshot_times *times,
                            uint64_t time, uint64_t *decided_at)
{
    struct packet_ring *header = file->header;
    uint64_t head = atomic_load(&file->encoder.head), reach = arena->options.snapshot_size;
    uint64_t undecided = atomic_load(&header->undecided);
    if (head - *decided_at < step)
        return;
    *decided_at = head;
    uint64_t snapshots = count_until(times, time);
    bool taken = snapshots != atomic_load(&header->seen_snapshots);
    if (taken || atomic_load(&header->owed)) {
        recorder_log_kept(arena, serial, undecided, head);
        undecided = head;
    } else if (head > reach && head - reach > undecided) {
        packet_file_give_back(file, undecided, head - reach);
        undecided = head - reach;
    }
    atomic_store(&header->undecided, undecided);
    atomic_store(&header->owed, taken);
    atomic_store(&header->seen_snapshots, snapshots);
}
