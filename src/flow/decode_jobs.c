#include "flow/decode_jobs.h"

#include "base/memory.h"
#include "flow/slice.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>
#include <uthash.h>

enum {
    STEPS_BETWEEN_PROGRESS = 1 << 16,
    /* Events of slices that have been decoded before their turn, some hundred megabytes. */
    KEPT_AT_MOST = 1 << 22,
    PROGRESS_INTERVAL_NS = 100 * 1000 * 1000,
};

/* A thread that events go to, found by its tid. */
struct receiver {
    uint32_t tid;
    struct thread_output output;
    UT_hash_handle hh;
};

/* A slice on its way. Once `done` it belongs to whoever passes events on. */
struct slice_work {
    struct decode_job *job;
    struct stream_work *stream;
    const struct trace_stretch *stretch;
    struct stretch_bytes *bytes;
    struct slice slice;
    bool last; /* of its stretch */
    bool done;
    struct delivery delivery;
};

/* The bytes of a stretch, contiguous. */
struct stretch_bytes {
    const uint8_t *bytes;
    uint8_t *copy; /* owned; NULL when they lie in the file */
};

/* The slices of one stream, whose events are passed on in this order. */
struct stream_work {
    struct schedule schedule;
    struct array slices; /* struct slice_work * */
    size_t next;         /* the first whose events have not all been passed on */
};

/* Streams whose events are passed on in the order of their time: one of a thread, or all of the
 * processors. */
struct decode_job {
    struct array streams;      /* struct stream_work * */
    struct receiver *receiver; /* of a thread's job; NULL for the job of the processors */
    uint64_t size;
    size_t order; /* the job's place in the file */
    bool busy;    /* somebody is passing events on */
};

struct decode_run {
    const struct decode_request *request;
    struct receiver *receivers; /* complete before the workers start */
    struct array jobs;          /* struct decode_job *, the largest first */
    struct array stretches;     /* struct stretch_bytes * */
    struct array slices;        /* struct slice_work *: in the order in which they are begun */
    uint64_t bytes;
    atomic_uint_fast64_t bytes_done;

    pthread_mutex_t lock; /* of all below, and of jobs and slices where they change */
    pthread_cond_t changed;
    size_t next_slice;
    unsigned decoding;   /* workers that are */
    unsigned passing_on; /* workers that are */
    uint64_t kept;       /* events that wait to be passed on */
    unsigned working;
    struct array spare; /* struct delivery: memory for the slices to come */
    struct flow_statistics statistics;
};

/* Receivers. */

/* NULL for a thread that nothing is recorded of, not even that it ran: only damaged records name
 * such. */
static struct receiver *find_receiver(struct decode_run *run, uint32_t tid)
{
    struct receiver *receiver;
    HASH_FIND(hh, run->receivers, &tid, sizeof(tid), receiver);
    if (receiver)
        return receiver;
    const struct thread *thread = address_spaces_thread(run->request->spaces, tid);
    if (!thread)
        return NULL;
    receiver = memory_allocate_zeroed(sizeof(*receiver));
    receiver->tid = tid;
    receiver->output.thread = thread;
    receiver->output.sink = run->request->sink;
    HASH_ADD(hh, run->receivers, tid, sizeof(receiver->tid), receiver);
    return receiver;
}

static struct thread_output *find_output(void *context, uint32_t pid, uint32_t tid)
{
    struct receiver *receiver = find_receiver(context, tid);
    return receiver ? &receiver->output : NULL;
}

static void free_receivers(struct decode_run *run)
{
    struct receiver *receiver, *next;
    HASH_ITER(hh, run->receivers, receiver, next)
    {
        thread_output_end(&receiver->output);
        thread_output_add_statistics(&receiver->output, &run->statistics);
        HASH_DEL(run->receivers, receiver);
        free(receiver);
    }
}

/* Jobs. */

static struct decode_job *add_job(struct decode_run *run, struct receiver *receiver)
{
    struct decode_job *job = memory_allocate_zeroed(sizeof(*job));
    job->streams = array_of(sizeof(struct stream_work *));
    job->receiver = receiver;
    job->order = run->jobs.count;
    *(struct decode_job **)array_add(&run->jobs) = job;
    return job;
}

static void add_slices(struct decode_run *run, struct decode_job *job, struct stream_work *stream,
                       const struct trace_stretch *stretch)
{
    const struct pt_setup *setup = &run->request->data->setup;
    struct stretch_bytes *bytes = memory_allocate_zeroed(sizeof(*bytes));
    struct array slices = array_of(sizeof(struct slice));
    bytes->bytes = trace_stretch_bytes(stretch, &bytes->copy);
    *(struct stretch_bytes **)array_add(&run->stretches) = bytes;
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

static struct stream_work *add_stream(struct decode_run *run, struct decode_job *job,
                                      const struct trace_stream *stream)
{
    struct stream_work *work = memory_allocate_zeroed(sizeof(*work));
    work->slices = array_of(sizeof(struct slice_work *));
    *(struct stream_work **)array_add(&job->streams) = work;
    for (size_t i = 0; i < stream->stretches.count; i++)
        add_slices(run, job, work, trace_stretch_at(stream, i));
    job->size += stream->size;
    return work;
}

static void add_thread_jobs(struct decode_run *run)
{
    const struct decode_request *request = run->request;
    for (size_t i = 0; i < request->streams->streams.count; i++) {
        const struct trace_stream *stream = trace_stream_at(request->streams, i);
        if (stream->tid == UINT32_MAX)
            continue;
        struct receiver *receiver = find_receiver(run, stream->tid);
        if (!receiver)
            continue;
        uint32_t pid = receiver->output.thread->pid;
        /* Here and not when the first events come, so that their order does not depend on the
         * workers. */
        thread_output_begin(&receiver->output);
        struct decode_job *job = add_job(run, receiver);
        schedule_of_thread(&add_stream(run, job, stream)->schedule, &receiver->output,
                           address_spaces_process(request->spaces, pid));
    }
}

/* A ring that names no thread is a processor's, if the recording has such; in one that has rings of
 * threads only it is damaged, and its events are nobody's. (A thread's events must not come from
 * its own ring and from a processor's: two workers would hand them on at the same time.) */
static void add_processors_job(struct decode_run *run)
{
    const struct decode_request *request = run->request;
    struct decode_job *job = NULL;
    for (size_t i = 0; i < request->streams->streams.count; i++) {
        const struct trace_stream *stream = trace_stream_at(request->streams, i);
        if (stream->tid != UINT32_MAX)
            continue;
        if (!job)
            job = add_job(run, NULL);
        struct schedule *schedule = &add_stream(run, job, stream)->schedule;
        if (request->data->setup.per_cpu)
            schedule_of_processor(schedule, request->data, stream->cpu, request->spaces,
                                  find_output, run);
        else
            schedule_of_thread(schedule, NULL, NULL);
    }
}

static struct decode_job *job_at(const struct array *jobs, size_t index)
{
    return *(struct decode_job **)array_at(jobs, index);
}

static struct stream_work *stream_at(const struct decode_job *job, size_t index)
{
    return *(struct stream_work **)array_at(&job->streams, index);
}

static struct slice_work *slice_at(const struct array *slices, size_t index)
{
    return *(struct slice_work **)array_at(slices, index);
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
static void order_slices(struct decode_run *run, const struct decode_job *job)
{
    size_t *next = memory_allocate_zeroed(job->streams.count * sizeof(*next));
    for (;;) {
        struct slice_work *first = NULL;
        size_t of = 0;
        for (size_t i = 0; i < job->streams.count; i++) {
            const struct array *slices = &stream_at(job, i)->slices;
            if (next[i] == slices->count)
                continue;
            struct slice_work *work = slice_at(slices, next[i]);
            if (first && work->slice.time.value >= first->slice.time.value)
                continue;
            first = work;
            of = i;
        }
        if (!first)
            break;
        *(struct slice_work **)array_add(&run->slices) = first;
        next[of]++;
    }
    free(next);
}

static void prepare_jobs(struct decode_run *run)
{
    run->jobs = array_of(sizeof(struct decode_job *));
    run->stretches = array_of(sizeof(struct stretch_bytes *));
    run->slices = array_of(sizeof(struct slice_work *));
    run->spare = array_of(sizeof(struct delivery));
    add_thread_jobs(run);
    add_processors_job(run);
    if (run->jobs.count)
        qsort(run->jobs.elements, run->jobs.count, sizeof(struct decode_job *), largest_first);
    for (size_t i = 0; i < run->jobs.count; i++) {
        order_slices(run, job_at(&run->jobs, i));
        run->bytes += job_at(&run->jobs, i)->size;
    }
}

static void free_job(struct decode_job *job)
{
    for (size_t i = 0; i < job->streams.count; i++) {
        schedule_free(&stream_at(job, i)->schedule);
        array_free(&stream_at(job, i)->slices);
        free(stream_at(job, i));
    }
    array_free(&job->streams);
    free(job);
}

static void free_jobs(struct decode_run *run)
{
    for (size_t i = 0; i < run->jobs.count; i++)
        free_job(job_at(&run->jobs, i));
    for (size_t i = 0; i < run->slices.count; i++)
        free(slice_at(&run->slices, i));
    for (size_t i = 0; i < run->stretches.count; i++) {
        struct stretch_bytes *bytes = *(struct stretch_bytes **)array_at(&run->stretches, i);
        free(bytes->copy);
        free(bytes);
    }
    array_free(&run->jobs);
    array_free(&run->slices);
    for (size_t i = 0; i < run->spare.count; i++)
        delivery_free(array_at(&run->spare, i));
    array_free(&run->spare);
    array_free(&run->stretches);
}

/* Passing events on. */

static bool is_first_of_job(const struct slice_work *work)
{
    const struct decode_job *job = work->job;
    return job->streams.count == 1 && slice_at(&work->stream->slices, work->stream->next) == work;
}

/* All events of the slice have been passed on. */
static void drop_slice(struct decode_run *run, struct slice_work *work)
{
    run->kept -= work->delivery.events.count;
    *(struct delivery *)array_add(&run->spare) = work->delivery;
    work->stream->next++;
}

static void drop_passed_on(struct decode_run *run, struct stream_work *stream)
{
    struct ticks time;
    while (stream->next < stream->slices.count) {
        struct slice_work *work = slice_at(&stream->slices, stream->next);
        if (!work->done || delivery_time(&work->delivery, &time))
            return;
        drop_slice(run, work);
    }
}

/* The stream whose next run is the earliest of all, or may be; NULL when there are no more. */
static struct stream_work *earliest(struct decode_run *run, struct decode_job *job)
{
    struct stream_work *first = NULL;
    struct ticks first_time = {0};
    for (size_t i = 0; i < job->streams.count; i++) {
        struct stream_work *stream = stream_at(job, i);
        drop_passed_on(run, stream);
        if (stream->next == stream->slices.count)
            continue;
        struct slice_work *work = slice_at(&stream->slices, stream->next);
        struct ticks time = work->slice.time;
        if (work->done)
            delivery_time(&work->delivery, &time);
        if (first && time.value >= first_time.value)
            continue;
        first = stream;
        first_time = time;
    }
    return first;
}

/* Passes on what can be. With the lock held, which is given up meanwhile. */
static void pass_on(struct decode_run *run, struct decode_job *job)
{
    struct stream_work *stream;
    struct slice_work *work;
    if (job->busy)
        return;
    job->busy = true;
    run->passing_on++;
    while ((stream = earliest(run, job)) != NULL &&
           (work = slice_at(&stream->slices, stream->next))->done) {
        pthread_mutex_unlock(&run->lock);
        delivery_pass_on(&work->delivery);
        pthread_mutex_lock(&run->lock);
    }
    if (!stream && job->receiver) {
        pthread_mutex_unlock(&run->lock);
        thread_output_end(&job->receiver->output);
        pthread_mutex_lock(&run->lock);
    }
    run->passing_on--;
    job->busy = false;
}

/* Workers. */

static void decode_slice(struct decode_run *run, struct decoder_memory *memory,
                         struct slice_work *work)
{
    const struct decoder_input input = {.bytes = work->bytes->bytes,
                                        .size = work->stretch->size,
                                        .start = work->slice.start,
                                        .stop = work->slice.stop,
                                        .offset = work->stretch->end - work->stretch->size,
                                        .observer = run->request->observer,
                                        .schedule = &work->stream->schedule,
                                        .delivery = &work->delivery,
                                        .lost_after = work->last && work->stretch->lost_after};
    struct decoder *decoder = decoder_open(run->request->shared, memory, &input);
    while (decoder_run(decoder, STEPS_BETWEEN_PROGRESS))
        ;
    pthread_mutex_lock(&run->lock);
    decoder_add_statistics(decoder, &run->statistics);
    pthread_mutex_unlock(&run->lock);
    decoder_close(decoder);
    atomic_fetch_add(&run->bytes_done, work->slice.stop - work->slice.start);
}

/* The next slice to be decoded; NULL when there are no more. Waits while too many events are
 * waiting to be passed on, unless it is this one that they wait for. With the lock held.
 */
static struct slice_work *next_slice(struct decode_run *run)
{
    while (run->next_slice < run->slices.count && run->kept > KEPT_AT_MOST &&
           run->decoding + run->passing_on > 0)
        pthread_cond_wait(&run->changed, &run->lock);
    if (run->next_slice == run->slices.count)
        return NULL;
    return slice_at(&run->slices, run->next_slice++);
}

static void begin_delivery(struct decode_run *run, struct slice_work *slice)
{
    bool direct = is_first_of_job(slice);
    if (!run->spare.count) {
        delivery_init(&slice->delivery, direct);
        return;
    }
    slice->delivery = *(struct delivery *)array_at(&run->spare, --run->spare.count);
    delivery_reuse(&slice->delivery, direct);
}

static void *work(void *context)
{
    struct decode_run *run = context;
    struct decoder_memory *memory = decoder_memory_new();
    struct slice_work *slice;
    pthread_mutex_lock(&run->lock);
    while ((slice = next_slice(run)) != NULL) {
        begin_delivery(run, slice);
        run->decoding++;
        pthread_mutex_unlock(&run->lock);
        decode_slice(run, memory, slice);
        pthread_mutex_lock(&run->lock);
        run->decoding--;
        run->kept += slice->delivery.events.count;
        slice->done = true;
        pass_on(run, slice->job);
        pthread_cond_broadcast(&run->changed);
    }
    run->working--;
    pthread_cond_broadcast(&run->changed);
    pthread_mutex_unlock(&run->lock);
    decoder_memory_free(memory);
    return NULL;
}

static unsigned usable_cores(const struct decode_run *run)
{
    unsigned cores = run->request->observer ? 1 : run->request->options->cores;
    cpu_set_t set;
    if (!cores && sched_getaffinity(0, sizeof(set), &set) == 0)
        cores = (unsigned)CPU_COUNT(&set);
    if (cores > run->slices.count)
        cores = (unsigned)run->slices.count;
    return cores ? cores : 1;
}

/* Until the workers are done, tells how far they are. */
static void watch(struct decode_run *run)
{
    const struct flow_options *options = run->request->options;
    pthread_mutex_lock(&run->lock);
    while (run->working) {
        struct timespec until;
        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_nsec += PROGRESS_INTERVAL_NS;
        until.tv_sec += until.tv_nsec / 1000000000;
        until.tv_nsec %= 1000000000;
        pthread_cond_timedwait(&run->changed, &run->lock, &until);
        if (!options->progress)
            continue;
        pthread_mutex_unlock(&run->lock);
        options->progress("Decoding", atomic_load(&run->bytes_done), run->bytes);
        pthread_mutex_lock(&run->lock);
    }
    pthread_mutex_unlock(&run->lock);
}

/* Decodes on `cores` threads, or on as many of them as the system lets us start; at worst on this
 * one. */
static void run_workers(struct decode_run *run, unsigned cores)
{
    pthread_t *workers = memory_allocate(cores * sizeof(*workers));
    unsigned started = 0;
    run->working = cores;
    while (started < cores && pthread_create(&workers[started], NULL, work, run) == 0)
        started++;
    if (started < cores) {
        pthread_mutex_lock(&run->lock);
        run->working -= cores - started;
        pthread_mutex_unlock(&run->lock);
    }
    if (!started) {
        run->working = 1;
        work(run);
    }
    watch(run);
    for (unsigned i = 0; i < started; i++)
        pthread_join(workers[i], NULL);
    free(workers);
}

void decode_all(const struct decode_request *request, struct flow_statistics *statistics)
{
    struct decode_run run = {.request = request, .statistics = *statistics};
    pthread_mutex_init(&run.lock, NULL);
    pthread_cond_init(&run.changed, NULL);
    prepare_jobs(&run);
    run_workers(&run, usable_cores(&run));
    free_jobs(&run);
    free_receivers(&run);
    pthread_cond_destroy(&run.changed);
    pthread_mutex_destroy(&run.lock);
    *statistics = run.statistics;
}
