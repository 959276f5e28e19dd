#include "flow/schedule.h"

/* Linux's idle threads: one per processor, all with this tid; their events are nobody's. */
enum { IDLE_TID = 0 };

static void add_entry(struct schedule *schedule, struct ticks since, struct thread_output *output,
                      const struct process *process)
{
    struct schedule_entry *entry = array_add(&schedule->entries);
    *entry = (struct schedule_entry){.since = since, .output = output, .process = process};
}

void schedule_of_thread(struct schedule *schedule, struct thread_output *output,
                        const struct process *process)
{
    schedule->entries = array_of(sizeof(struct schedule_entry));
    add_entry(schedule, (struct ticks){0}, output, process);
}

static void add_thread(struct schedule *schedule, struct ticks since, uint32_t pid, uint32_t tid,
                       const struct address_spaces *spaces, schedule_find_output *find_output,
                       void *context)
{
    struct thread_output *output = tid == IDLE_TID ? NULL : find_output(context, pid, tid);
    add_entry(schedule, since, output, output ? address_spaces_process(spaces, pid) : NULL);
}

void schedule_of_processor(struct schedule *schedule, const struct perf_data *data, uint32_t cpu,
                           const struct address_spaces *spaces, schedule_find_output *find_output,
                           void *context)
{
    schedule->entries = array_of(sizeof(struct schedule_entry));
    for (size_t i = 0; i < data->record_count; i++) {
        const struct side_band_record *record = &data->records[i];
        if (record->cpu != cpu)
            continue;
        struct ticks since = clock_to_ticks(&data->setup.clock, record->time);
        bool starts = record->kind == SIDE_BAND_TRACE_START;
        bool switches = record->kind == SIDE_BAND_CONTEXT_SWITCH;
        bool leaves = switches && record->context_switch.out;
        if (leaves && !schedule->entries.count)
            add_thread(schedule, (struct ticks){0}, record->pid, record->tid, spaces, find_output,
                       context);
        if (leaves)
            add_entry(schedule, since, NULL, NULL);
        else if (starts || switches)
            add_thread(schedule, since, record->pid, record->tid, spaces, find_output, context);
    }
    if (!schedule->entries.count)
        add_entry(schedule, (struct ticks){0}, NULL, NULL);
    ((struct schedule_entry *)array_at(&schedule->entries, 0))->since.value = 0;
}

void schedule_free(struct schedule *schedule)
{
    array_free(&schedule->entries);
}
