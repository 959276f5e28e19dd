#include "decode/pt/decode_plan.h"

#include "base/memory.h"
#include "decode/pt/ring_beginning.h"

#include <stdlib.h>

/* Receivers. */

/* NULL for a thread that nothing is recorded of, not even that it ran: only damaged records name
 * such. */
static struct receiver *find_receiver(struct decode_plan *plan, uint32_t tid)
{
    struct receiver *receiver;
    HASH_FIND(hh, plan->receivers, &tid, sizeof(tid), receiver);
    if (receiver)
        return receiver;
    const struct thread *thread = address_spaces_thread(plan->request->spaces, tid);
    if (!thread)
        return NULL;
    receiver = memory_allocate_zeroed(sizeof(*receiver));
    receiver->tid = tid;
    receiver->output.thread = thread;
    receiver->output.sink = plan->request->sink;
    HASH_ADD(hh, plan->receivers, tid, sizeof(receiver->tid), receiver);
    return receiver;
}

static struct thread_output *find_output(void *context, uint32_t pid, uint32_t tid)
{
    struct receiver *receiver = find_receiver(context, tid);
    return receiver ? &receiver->output : NULL;
}

static void free_receivers(struct decode_plan *plan, struct flow_statistics *statistics)
{
    struct receiver *receiver, *next;
    HASH_ITER(hh, plan->receivers, receiver, next)
    {
        thread_output_end(&receiver->output);
        thread_output_add_statistics(&receiver->output, statistics);
        HASH_DEL(plan->receivers, receiver);
        free(receiver);
    }
}

/* Jobs. */

static struct decode_job *add_job(struct decode_plan *plan, struct receiver *receiver)
{
    struct decode_job *job = memory_allocate_zeroed(sizeof(*job));
    job->streams = array_of(sizeof(struct stream_work *));
    job->receiver = receiver;
    job->order = plan->jobs.count;
    *(struct decode_job **)array_add(&plan->jobs) = job;
    return job;
}

static void add_slices(struct decode_plan *plan, struct decode_job *job, struct stream_work *stream,
                       const struct trace_stretch *stretch)
{
    const struct pt_setup *setup = &plan->request->data->setup;
    struct stretch_bytes *bytes = memory_allocate_zeroed(sizeof(*bytes));
    struct array slices = array_of(sizeof(struct slice));
    bytes->bytes = trace_stretch_bytes(stretch, &bytes->copy);
    *(struct stretch_bytes **)array_add(&plan->stretches) = bytes;
    slices_cut(&slices, bytes->bytes, stretch->size, setup->config & setup->tsc_bit);
    for (size_t i = 0; i < slices.count; i++) {
        struct slice_work *work = memory_allocate_zeroed(sizeof(*work));
        *work = (struct slice_work){.job = job,
                                    .stream = stream,
                                    .stretch = stretch,
                                    .bytes = bytes,
                                    .slice = *(struct slice *)array_at(&slices, i),
                                    .last = i + 1 == slices.count};
        *(struct slice_work **)array_add(&stream->slices) = work;
    }
    array_free(&slices);
}

static struct stream_work *add_stream(struct decode_plan *plan, struct decode_job *job,
                                      const struct trace_stream *stream)
{
    struct stream_work *work = memory_allocate_zeroed(sizeof(*work));
    work->slices = array_of(sizeof(struct slice_work *));
    *(struct stream_work **)array_add(&job->streams) = work;
    for (size_t i = 0; i < stream->stretches.count; i++)
        add_slices(plan, job, work, trace_stretch_at(stream, i));
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
        struct receiver *receiver = find_receiver(plan, stream->tid);
        if (!receiver)
            continue;
        uint32_t pid = receiver->output.thread->pid;
        /* Here and not when the first events come, so that their order does not depend on the
         * workers. */
        thread_output_begin(&receiver->output);
        struct decode_job *job = add_job(plan, receiver);
        schedule_of_thread(&add_stream(plan, job, stream)->schedule, &receiver->output,
                           address_spaces_process(request->spaces, pid));
    }
}

/* A ring that was overwritten begins in the middle. What threads did on its processor before is
 * missing, though what they did elsewhere may be there. */
static void tell_holes(const struct stream_work *work, const struct trace_stream *stream,
                       const struct perf_data *data)
{
    struct ring_beginning beginning;
    if (!stream->stretches.count)
        return;
    ring_beginning_read(&beginning, trace_stretch_at(stream, 0));
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

/* A ring that names no thread is a processor's, if the recording has such; in one that has rings of
 * threads only it is damaged, and its events are nobody's. (A thread's events must not come from
 * its own ring and from a processor's: two workers would hand them on at the same time.) */
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
        tell_holes(work, stream, request->data);
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

/* The slices of a job in the order of their time, which is that of each stream: the next slice of
 * the stream that is farthest behind comes next. */
static void order_slices(struct decode_plan *plan, const struct decode_job *job)
{
    size_t *next = memory_allocate_zeroed(job->streams.count * sizeof(*next));
    for (;;) {
        struct slice_work *first = NULL;
        size_t of = 0;
        for (size_t i = 0; i < job->streams.count; i++) {
            const struct array *slices = &job_stream(job, i)->slices;
            if (next[i] == slices->count)
                continue;
            struct slice_work *work = slice_work_at(slices, next[i]);
            if (first && work->slice.time.value >= first->slice.time.value)
                continue;
            first = work;
            of = i;
        }
        if (!first)
            break;
        *(struct slice_work **)array_add(&plan->slices) = first;
        next[of]++;
    }
    free(next);
}

void decode_plan_make(struct decode_plan *plan, const struct decode_request *request)
{
    *plan = (struct decode_plan){.request = request};
    plan->jobs = array_of(sizeof(struct decode_job *));
    plan->stretches = array_of(sizeof(struct stretch_bytes *));
    plan->slices = array_of(sizeof(struct slice_work *));
    add_thread_jobs(plan);
    add_processors_job(plan);
    if (plan->jobs.count)
        qsort(plan->jobs.elements, plan->jobs.count, sizeof(struct decode_job *), largest_first);
    for (size_t i = 0; i < plan->jobs.count; i++) {
        order_slices(plan, plan_job(&plan->jobs, i));
        plan->bytes += plan_job(&plan->jobs, i)->size;
    }
}

static void free_job(struct decode_job *job)
{
    for (size_t i = 0; i < job->streams.count; i++) {
        schedule_free(&job_stream(job, i)->schedule);
        array_free(&job_stream(job, i)->slices);
        free(job_stream(job, i));
    }
    array_free(&job->streams);
    free(job);
}

void decode_plan_free(struct decode_plan *plan, struct flow_statistics *statistics)
{
    free_receivers(plan, statistics);
    for (size_t i = 0; i < plan->jobs.count; i++)
        free_job(plan_job(&plan->jobs, i));
    for (size_t i = 0; i < plan->slices.count; i++)
        free(slice_work_at(&plan->slices, i));
    for (size_t i = 0; i < plan->stretches.count; i++) {
        struct stretch_bytes *bytes = *(struct stretch_bytes **)array_at(&plan->stretches, i);
        free(bytes->copy);
        free(bytes);
    }
    array_free(&plan->jobs);
    array_free(&plan->slices);
    array_free(&plan->stretches);
}
