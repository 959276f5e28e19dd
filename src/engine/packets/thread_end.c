#include "engine/packets/thread_end.h"

#include "engine/engine.h"
#include "process/processes.h"

/* The first time at or after `from` at which the end of process `pid` was reported to its traced
 * parent; `otherwise` when it was not. */
static uint64_t reaped_at(const struct sideband_log *log, uint32_t pid, uint64_t from,
                          uint64_t otherwise)
{
    for (size_t i = 0; i < log->reaped.count; i++) {
        const struct reaped_process *reaped = array_at(&log->reaped, i);
        if (reaped->pid == pid && reaped->time.value >= from)
            return reaped->time.value;
    }
    return otherwise;
}

/* The first exec of process `pid` (a number of the recording) at or after `from`; `otherwise` when
 * it has none. */
static struct nanoseconds executed_at(const struct sideband_log *log, uint32_t pid,
                                      struct nanoseconds from, struct nanoseconds otherwise)
{
    for (size_t i = 0; i < log->records.count; i++) {
        const struct sideband_record *record = array_at(&log->records, i);
        if (record->kind == SIDEBAND_NAME && record->name.exec && record->pid == pid &&
            record->time.value >= from.value && record->time.value < otherwise.value)
            otherwise = record->time;
    }
    return otherwise;
}

static bool end_is_known(const struct packet_ring *ring, bool watched)
{
    if (atomic_load(&ring->ended) || atomic_load(&ring->out_of_space))
        return false;
    return watched || thread_state((pid_t)ring->pid, (pid_t)ring->tid) != 0;
}

void thread_end_add(struct sideband_log *log, const struct ring *ring,
                    const struct recorded *recorded)
{
    const struct packet_ring *header = ring->header;
    if (!end_is_known(header, recorded->watched))
        return;
    uint64_t last = ring->encoder.last_time;
    uint64_t end = last;
    if (recorded->clock != RECORD_CLOCK_INSTRUCTIONS)
        end = reaped_at(log, header->pid, last, recorded->frozen_at);
    struct sideband_record record = {
        .kind = SIDEBAND_EXIT,
        .pid = sideband_log_number(log, header->pid),
        .tid = sideband_log_number(log, header->tid),
        .cpu = UINT32_MAX,
    };
    struct nanoseconds last_packet = clock_to_nanoseconds(&log->clock, (struct ticks){last});
    struct nanoseconds watched_to =
        clock_to_nanoseconds(&log->clock, (struct ticks){end > last ? end : last});
    record.time = executed_at(log, record.pid, last_packet, watched_to);
    /* The thread that executes becomes the process's main thread: that number lives on. */
    if (record.pid == record.tid && record.time.value < watched_to.value)
        return;
    array_add_all(&log->records, &record, 1);
}
