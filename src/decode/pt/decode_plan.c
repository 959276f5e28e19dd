#include "decode/pt/decode_plan.h"

#include "base/memory.h"
#include "decode/pt/ring_beginning.h"

#include <stdlib.h>

/* Sinks. */

/* NULL for a thread without any record, even of having run: only damaged records name
 * such threads. */
static struct event_sink *find_event_sink(struct decode_plan *plan, uint32_t tid)
{
    struct event_sink *event_sink;
    HASH_FIND(hh, plan->event_sinks, &tid, sizeof(tid), event_sink);
    if (event_sink)
        return event_sink;
    const struct thread *thread = address_spaces_thread(plan->request->spaces, tid);
    if (!thread)
        return NULL;
    event_sink = memory_allocate_zeroed(sizeof(*event_sink));
    event_sink->tid = tid;
    event_sink->output.thread = thread;
    event_sink->output.sink = plan->request->sink;
    HASH_ADD(hh, plan->event_sinks, tid, sizeof(event_sink->tid), event_sink);
    return event_sink;
}

static struct thread_sink *find_output(void *context, uint32_t pid, uint32_t tid)
{
    struct event_sink *event_sink = find_event_sink(context, tid);
    return event_sink ? &event_sink->output : NULL;
}

static void free_event_sinks(struct decode_plan *plan, struct flow_statistics *statistics)
{
    struct event_sink *event_sink, *next;
    HASH_ITER(hh, plan->event_sinks, event_sink, next)
    {
        thread_output_end(&event_sink->output);
        thread_output_add_statistics(&event_sink->output, statistics);
        HASH_DEL(plan->event_sinks, event_sink);
        free(event_sink);
    }
}

/* Jobs. */

static struct decode_job *add_job(struct decode_plan *plan, struct event_sink *event_sink)
{
    struct decode_job *job = memory_allocate_zeroed(sizeof(*job));
    job->streams = array_of(sizeof(struct stream_work *));
    job->event_sink = event_sink;
    job->order = plan->jobs.count;
    *(struct decode_job **)array_add(&plan->jobs) = job;
    return job;
}

static void add_psb_segments(struct decode_plan *plan, struct decode_job *job,
                             struct stream_work *stream, const struct trace_segment *segment)
{
    const struct pt_setup *setup = &plan->request->data->setup;
    struct segment_bytes *bytes = memory_allocate_zeroed(sizeof(*bytes));
    struct array psb_segments = array_of(sizeof(struct psb_segment));
    bytes->bytes = trace_segment_bytes(segment, &bytes->copy);
    *(struct segment_bytes **)array_add(&plan->segments) = bytes;
    psb_segments_cut(&psb_segments, bytes->bytes, segment->size, setup->config & setup->tsc_bit);
    for (size_t i = 0; i < psb_segments.count; i++) {
        struct psb_segment_work *work = memory_allocate_zeroed(sizeof(*work));
        *work = (struct psb_segment_work){.job = job,
                                          .stream = stream,
                                          .segment = segment,
                                          .bytes = bytes,
                                          .psb_segment =
                                              *(struct psb_segment *)array_at(&psb_segments, i),
                                          .last = i + 1 == psb_segments.count};
        *(struct psb_segment_work **)array_add(&stream->psb_segments) = work;
    }
    array_free(&psb_segments);
}

static struct stream_work *add_stream(struct decode_plan *plan, struct decode_job *job,
                                      const struct trace_stream *stream)
{
    struct stream_work *work = memory_allocate_zeroed(sizeof(*work));
    work->psb_segments = array_of(sizeof(struct psb_segment_work *));
    *(struct stream_work **)array_add(&job->streams) = work;
    for (size_t i = 0; i < stream->segments.count; i++)
        add_psb_segments(plan, job, work, trace_segment_at(stream, i));
    job->size += stream->size;
    return work;
}

static void add_thread_jobs(struct decode_plan *plan)
{
    const struct decode_request *request = plan->request;
    for (size_t i = 0; i < request->streams->streams.count; i++) {
        const struct trace_stream *stream = trace_stream_at(request->streams, i);
        if (stream->tid == UINT32_MAX)
            continue;
        struct event_sink *event_sink = find_event_sink(plan, stream->tid);
        if (!event_sink)
            continue;
        uint32_t pid = event_sink->output.thread->pid;
        /* Here, not at the first events, so that the order of threads does not depend on the
         * workers. */
        thread_output_begin(&event_sink->output);
        struct decode_job *job = add_job(plan, event_sink);
        schedule_of_thread(&add_stream(plan, job, stream)->schedule, &event_sink->output,
                           address_spaces_process(request->spaces, pid));
    }
}

/* A ring that was overwritten begins in the middle. What threads did on its processor before that
 * is missing, though what they did on other processors may be there. */
static void report_holes(const struct stream_work *work, const struct trace_stream *stream,
                         const struct perf_data *data)
{
    struct ring_beginning beginning;
    if (!stream->segments.count)
        return;
    ring_beginning_read(&beginning, trace_segment_at(stream, 0));
    bool in_the_middle = data->setup.snapshot && beginning.ip != 0;
    for (size_t i = 0; in_the_middle && i < work->schedule.entries.count; i++) {
        const struct schedule_entry *entry = schedule_at(&work->schedule, i);
        if (entry->since.value >= beginning.time.value)
            break;
        if (entry->output)
            thread_output_add_hole(entry->output, entry->since);
    }
    ring_beginning_free(&beginning);
}

/* A ring that names no thread is a processor's, if the recording has such rings. In a recording
 * that has rings of threads only, it is damaged, and its events are dropped. (A thread's events
 * must not come both from its own ring and from a processor's: two workers would pass them on at
 * the same time.) */
static void add_processors_job(struct decode_plan *plan)
{
    const struct decode_request *request = plan->request;
    struct decode_job *job = NULL;
    for (size_t i = 0; i < request->streams->streams.count; i++) {
        const struct trace_stream *stream = trace_stream_at(request->streams, i);
        if (stream->tid != UINT32_MAX)
            continue;
        if (!job)
            job = add_job(plan, NULL);
        struct stream_work *work = add_stream(plan, job, stream);
        if (!request->data->setup.per_cpu) {
            schedule_of_thread(&work->schedule, NULL, NULL);
            continue;
        }
        schedule_of_processor(&work->schedule, request->data, stream->cpu, request->spaces,
                              find_output, plan);
        report_holes(work, stream, request->data);
    }
}

static int largest_first(const void *left, const void *right)
{
    const struct decode_job *a = *(struct decode_job *const *)left;
    const struct decode_job *b = *(struct decode_job *const *)right;
    if (a->size != b->size)
        return a->size < b->size ? 1 : -1;
    return a->order < b->order ? -1 : a->order > b->order;
}

/* Adds the PSB segments of a job in the order of their time, which is also that of each stream:
 * always the earliest of the streams' next PSB segments. */
static void order_psb_segments(struct decode_plan *plan, const struct decode_job *job)
{
    size_t *next = memory_allocate_zeroed(job->streams.count * sizeof(*next));
    for (;;) {
        struct psb_segment_work *first = NULL;
        size_t of = 0;
        for (size_t i = 0; i < job->streams.count; i++) {
            const struct array *psb_segments = &job_stream(job, i)->psb_segments;
            if (next[i] == psb_segments->count)
                continue;
            struct psb_segment_work *work = psb_segment_work_at(psb_segments, next[i]);
            if (first && work->psb_segment.time.value >= first->psb_segment.time.value)
                continue;
            first = work;
            of = i;
        }
        if (!first)
            break;
        *(struct psb_segment_work **)array_add(&plan->psb_segments) = first;
        next[of]++;
    }
    free(next);
}

void decode_plan_make(struct decode_plan *plan, const struct decode_request *request)
{
    *plan = (struct decode_plan){.request = request};
    plan->jobs = array_of(sizeof(struct decode_job *));
    plan->segments = array_of(sizeof(struct segment_bytes *));
    plan->psb_segments = array_of(sizeof(struct psb_segment_work *));
    add_thread_jobs(plan);
    add_processors_job(plan);
    if (plan->jobs.count)
        qsort(plan->jobs.elements, plan->jobs.count, sizeof(struct decode_job *), largest_first);
    for (size_t i = 0; i < plan->jobs.count; i++) {
        order_psb_segments(plan, plan_job(&plan->jobs, i));
        plan->bytes += plan_job(&plan->jobs, i)->size;
    }
}

static void free_job(struct decode_job *job)
{
    for (size_t i = 0; i < job->streams.count; i++) {
        schedule_free(&job_stream(job, i)->schedule);
        array_free(&job_stream(job, i)->psb_segments);
        free(job_stream(job, i));
    }
    array_free(&job->streams);
    free(job);
}

void decode_plan_free(struct decode_plan *plan, struct flow_statistics *statistics)
{
    free_event_sinks(plan, statistics);
    for (size_t i = 0; i < plan->jobs.count; i++)
        free_job(plan_job(&plan->jobs, i));
    for (size_t i = 0; i < plan->psb_segments.count; i++)
        free(psb_segment_work_at(&plan->psb_segments, i));
    for (size_t i = 0; i < plan->segments.count; i++) {
        struct segment_bytes *bytes = *(struct segment_bytes **)array_at(&plan->segments, i);
        free(bytes->copy);
        free(bytes);
    }
    array_free(&plan->jobs);
    array_free(&plan->psb_segments);
    array_free(&plan->segments);
}
