#include "decode/samples/sampled_flow.h"

#include "base/memory.h"
#include "decode/samples/sampled_event.h"
#include "decode/samples/sampled_frames.h"

#include <stdlib.h>
#include <uthash.h>

/* A thread without samples for this many periods did not run: shorter pauses can be due to a late
 * interrupt. */
enum { PERIODS_MISSED = 4 };

enum { RECORDS_PER_PROGRESS = 1024 };

struct sampled_process {
    uint32_t pid;
    struct sampled_frames frames;
    UT_hash_handle hh;
};

struct sampled_thread {
    uint32_t tid;
    const struct thread *thread;
    struct sampled_process *process;
    void *object;  /* the sink's */
    uint64_t last; /* when it was last seen running; nanoseconds */
    uint64_t off;  /* when it was switched off its processor; 0: it was not */
    bool running;  /* as last reported to the sink */
    UT_hash_handle hh;
};

struct decoding {
    const struct sampled_flow_request *request;
    struct sampled_names names;
    uint32_t event;  /* index, sampled_event_find */
    uint64_t period; /* nanoseconds */
    bool has_times;  /* the records */
    struct sampled_process *processes;
    struct sampled_thread *threads;
    struct flow_statistics *statistics;
};

bool sampled_flow_recognizes(const struct perf_data *data)
{
    return !data->has_setup && sampled_event_find(data) != SAMPLED_EVENT_NONE;
}

bool sampled_flow_follows(const struct perf_data *data, uint32_t event)
{
    return !data->has_setup && sampled_event_is(data, sampled_event_find(data), event);
}

/* ---- processes and threads ---- */

static struct sampled_process *get_process(struct decoding *decoding, uint32_t pid)
{
    struct sampled_process *process;
    HASH_FIND(hh, decoding->processes, &pid, sizeof pid, process);
    if (process)
        return process;
    process = memory_allocate_zeroed(sizeof *process);
    process->pid = pid;
    sampled_frames_init(&process->frames, &decoding->names,
                        address_spaces_process(decoding->request->spaces, pid));
    HASH_ADD(hh, decoding->processes, pid, sizeof process->pid, process);
    return process;
}

static struct sampled_thread *find_thread(const struct decoding *decoding, uint32_t tid)
{
    struct sampled_thread *thread;
    HASH_FIND(hh, decoding->threads, &tid, sizeof tid, thread);
    return thread;
}

/* NULL for a processor that idles, which is not shown. */
static struct sampled_thread *get_thread(struct decoding *decoding,
                                         const struct sideband_record *record)
{
    const struct flow_sink *sink = decoding->request->sink;
    struct sampled_thread *thread = find_thread(decoding, record->tid);
    if (thread)
        return thread;
    const struct thread *described = address_spaces_thread(decoding->request->spaces, record->tid);
    if (!described)
        return NULL;
    thread = memory_allocate_zeroed(sizeof *thread);
    thread->tid = record->tid;
    thread->thread = described;
    thread->process = get_process(decoding, described->pid);
    thread->object = sink->begin(sink->context, described);
    HASH_ADD(hh, decoding->threads, tid, sizeof thread->tid, thread);
    return thread;
}

static void free_all(struct decoding *decoding)
{
    struct sampled_thread *thread, *next_thread;
    HASH_ITER(hh, decoding->threads, thread, next_thread)
    {
        HASH_DEL(decoding->threads, thread);
        free(thread);
    }
    struct sampled_process *process, *next_process;
    HASH_ITER(hh, decoding->processes, process, next_process)
    {
        HASH_DEL(decoding->processes, process);
        sampled_frames_free(&process->frames);
        free(process);
    }
    sampled_names_free(&decoding->names);
}

/* ---- what happens to a thread ---- */

/* When the record was. Where records have no times, each sample takes a period. */
static uint64_t time_of(const struct decoding *decoding, const struct sampled_thread *thread,
                        const struct sideband_record *record)
{
    return decoding->has_times ? record->time.value : thread->last + decoding->period;
}

static void report(struct decoding *decoding, struct sampled_thread *thread,
                   const struct stack_sample *sample)
{
    if (decoding->request->sink->sample)
        decoding->request->sink->sample(thread->object, sample);
}

/* Reports that the thread has not run since `time`; or, if it was not seen running for long before
 * that, since one period after it was. */
static void stop(struct decoding *decoding, struct sampled_thread *thread, uint64_t time)
{
    if (!thread->running)
        return;
    if (time - thread->last > PERIODS_MISSED * decoding->period)
        time = thread->last + decoding->period;
    report(decoding, thread, &(struct stack_sample){.kind = STACK_NOT_RUNNING, .time = {time}});
    thread->running = false;
}

/* The thread runs at `time`: reports a pause before it, if there was one. */
static void go_on(struct decoding *decoding, struct sampled_thread *thread, uint64_t time)
{
    if (thread->off && time - thread->off >= decoding->period)
        stop(decoding, thread, thread->off);
    else if (time - thread->last > PERIODS_MISSED * decoding->period)
        stop(decoding, thread, time);
    thread->off = 0;
}

static void take_sample(struct decoding *decoding, const struct sideband_record *record)
{
    if (!sampled_event_is(decoding->request->data, decoding->event, record->sample.event))
        return;
    decoding->statistics->bytes += record->sample.size;
    decoding->statistics->samples++;
    struct sampled_thread *thread = get_thread(decoding, record);
    if (!thread)
        return;
    struct stack_sample sample = {.kind = STACK_SAMPLE,
                                  .time = {time_of(decoding, thread, record)}};
    if (!sampled_frames_find(&thread->process->frames, decoding->request->data, record, &sample))
        return;
    if (sample.callers == FUNCTION_UNKNOWN && !decoding->request->stitch)
        sample.cut = false;
    decoding->statistics->cut_samples += sample.callers != FUNCTION_UNKNOWN;
    go_on(decoding, thread, sample.time.value);
    report(decoding, thread, &sample);
    thread->last = sample.time.value;
    thread->running = true;
}

static void take_switch(struct decoding *decoding, const struct sideband_record *record)
{
    struct sampled_thread *thread = find_thread(decoding, record->tid);
    if (!thread || !decoding->has_times)
        return;
    if (!record->context_switch.out)
        go_on(decoding, thread, record->time.value);
    else if (!thread->off)
        thread->off = record->time.value;
}

static void take_exit(struct decoding *decoding, const struct sideband_record *record)
{
    struct sampled_thread *thread = find_thread(decoding, record->tid);
    if (thread)
        stop(decoding, thread, thread->off ? thread->off : time_of(decoding, thread, record));
}

/* Only the thread that calls execve survives it. */
static void take_exec(struct decoding *decoding, const struct sideband_record *record)
{
    struct sampled_thread *thread = find_thread(decoding, record->tid);
    if (!thread)
        return;
    const uint64_t time = time_of(decoding, thread, record);
    go_on(decoding, thread, time);
    report(decoding, thread, &(struct stack_sample){.kind = STACK_EXEC, .time = {time}});
    thread->running = false;
}

static void take_record(struct decoding *decoding, const struct sideband_record *record)
{
    switch (record->kind) {
    case SIDEBAND_SAMPLE:
        take_sample(decoding, record);
        break;
    case SIDEBAND_CONTEXT_SWITCH:
        take_switch(decoding, record);
        break;
    case SIDEBAND_EXIT:
        take_exit(decoding, record);
        break;
    case SIDEBAND_NAME:
        if (record->name.exec)
            take_exec(decoding, record);
        break;
    case SIDEBAND_LOST:
        decoding->statistics->lost_samples += record->lost.count;
        break;
    default:
        break;
    }
}

static void end_threads(struct decoding *decoding)
{
    struct sampled_thread *thread, *next;
    HASH_ITER(hh, decoding->threads, thread, next)
    {
        stop(decoding, thread, thread->off ? thread->off : thread->last + decoding->period);
        decoding->request->sink->end(thread->object);
    }
}

void sampled_flow_decode(const struct sampled_flow_request *request,
                         struct flow_statistics *statistics)
{
    const struct perf_data *data = request->data;
    struct decoding decoding = {
        .request = request,
        .names = sampled_names_new(request->symbols),
        .event = sampled_event_find(data),
        .statistics = statistics,
    };
    decoding.period = sampled_event_period(data, decoding.event);
    decoding.has_times = sampled_event_has_times(data, decoding.event);
    statistics->sampled = true;
    for (size_t i = 0; i < data->record_count; i++) {
        if (i % RECORDS_PER_PROGRESS == 0 && request->options->progress)
            request->options->progress("Decoding", i, data->record_count);
        take_record(&decoding, &data->records[i]);
    }
    end_threads(&decoding);
    free_all(&decoding);
}
