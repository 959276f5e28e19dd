#include "decode/schedule.h"

/* Linux's idle threads: one per processor, all with this tid; their events are dropped. */
enum { IDLE_TID = 0 };

static void add_entry(struct schedule *schedule, struct ticks since, struct thread_sink *output,
                      const struct process *process)
{
    struct schedule_entry *entry = array_add(&schedule->entries);
    *entry = (struct schedule_entry){.since = since, .output = output, .process = process};
}

void schedule_of_thread(struct schedule *schedule, struct thread_sink *output,
                        const struct process *process)
{
    schedule->entries = array_of(sizeof(struct schedule_entry));
    add_entry(schedule, (struct ticks){0}, output, process);
}

/* The kernel no longer reports the ids of a thread that is exiting. */
static bool is_nobody(uint32_t tid)
{
    return tid == IDLE_TID || tid == UINT32_MAX;
}

/* Samples of sched:sched_switch have thread ids only. A thread that the sideband does not know
 * counts as a process, as everywhere. */
static uint32_t process_of(uint32_t pid, uint32_t tid, const struct address_spaces *spaces)
{
    if (pid != UINT32_MAX)
        return pid;
    const struct thread *thread = address_spaces_thread(spaces, tid);
    return thread ? thread->pid : tid;
}

static void add_thread(struct schedule *schedule, struct ticks since, uint32_t pid, uint32_t tid,
                       const struct address_spaces *spaces, schedule_find_output *find_output,
                       void *context)
{
    pid = process_of(pid, tid, spaces);
    struct thread_sink *output = is_nobody(tid) ? NULL : find_output(context, pid, tid);
    add_entry(schedule, since, output, output ? address_spaces_process(spaces, pid) : NULL);
}

void schedule_of_processor(struct schedule *schedule, const struct perf_data *data, uint32_t cpu,
                           const struct address_spaces *spaces, schedule_find_output *find_output,
                           void *context)
{
    schedule->entries = array_of(sizeof(struct schedule_entry));
    for (size_t i = 0; i < data->record_count; i++) {
        const struct sideband_record *record = &data->records[i];
        if (record->cpu != cpu)
            continue;
        struct ticks since = clock_to_ticks(&data->setup.clock, record->time);
        bool starts = record->kind == SIDEBAND_TRACE_START;
        bool switches = record->kind == SIDEBAND_CONTEXT_SWITCH;
        bool leaves = switches && record->context_switch.out;
        if (leaves && !schedule->entries.count)
            add_thread(schedule, (struct ticks){0}, record->pid, record->tid, spaces, find_output,
                       context);
        /* If all switches of a processor are recorded, the record says which thread comes; else it
         * says 0, as for the idle thread: the thread that comes is not traced. */
        if (leaves)
            add_thread(schedule, since, record->context_switch.other_pid,
                       record->context_switch.other_tid, spaces, find_output, context);
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
