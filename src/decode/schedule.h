/* Which thread ran when, on the processor or in the thread that a ring of packets belongs to.
 *
 * A ring of one thread has a schedule of one entry. For a ring of one processor it is made from the
 * context switches of the sideband. Made by the driver before decoding, read-only afterwards.
 */
#ifndef MAGIC_TRACE_DECODE_SCHEDULE_H
#define MAGIC_TRACE_DECODE_SCHEDULE_H

#include "base/array.h"
#include "decode/event_batch.h"
#include "recording/perf_data/perf_data_reader.h"

struct schedule_entry {
    struct ticks since;
    struct thread_sink *output;    /* NULL: an unknown thread, or the idle thread */
    const struct process *process; /* NULL: unknown */
};

struct schedule {
    struct array entries; /* struct schedule_entry, by time; the first holds from the beginning */
};

/* Finds the sink of a thread's events; NULL if not found. */
typedef struct thread_sink *schedule_find_output(void *context, uint32_t pid, uint32_t tid);

/* `output` and `process` NULL: the thread is unknown. */
void schedule_of_thread(struct schedule *schedule, struct thread_sink *output,
                        const struct process *process);
void schedule_of_processor(struct schedule *schedule, const struct perf_data *data, uint32_t cpu,
                           const struct address_spaces *spaces, schedule_find_output *find_output,
                           void *context);
void schedule_free(struct schedule *schedule);

static inline const struct schedule_entry *schedule_at(const struct schedule *schedule,
                                                       size_t index)
{
    return array_at(&schedule->entries, index);
}

#endif
