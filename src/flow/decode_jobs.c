#include "flow/decode_jobs.h"

#include "base/memory.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>
#include <uthash.h>

enum {
    STEPS_BETWEEN_PROGRESS = 1 << 16,
    PROGRESS_INTERVAL_NS = 100 * 1000 * 1000,
};

/* A thread that events go to, found by its tid. */
struct receiver {
    uint32_t tid;
    struct thread_output output;
    UT_hash_handle hh;
};

/* One stream on its way through its decoders, one per stretch. */
struct stream_progress {
    const struct trace_stream *stream;
    struct schedule schedule;
    size_t stretch;          /* the next one to open */
    struct decoder *decoder; /* NULL between stretches */
    uint8_t *copy;     /* of the stretch that is being decoded; NULL when it lies in the file */
    uint64_t reported; /* bytes of this stretch that count as done */
    bool done;
};

struct decode_job {
    struct array streams;      /* struct stream_progress */
    struct receiver *receiver; /* of a thread's job; NULL for the job of the processors */
    uint64_t size;
    size_t order; /* the job's place in the file */
};

struct decode_run {
    const struct decode_request *request;
    struct receiver *receivers; /* complete before the workers start */
    struct array jobs;          /* struct decode_job, the largest first */
    uint64_t bytes;
    atomic_size_t next_job;
    atomic_uint_fast64_t bytes_done;

    pthread_mutex_t lock; /* of all below */
    pthread_cond_t changed;
    unsigned working;
    struct flow_statistics statistics;
    bool failed;
    struct error error; /* of the first failure */
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

/* Streams. */

static void report_failure(struct decode_run *run, const struct error *error)
{
    pthread_mutex_lock(&run->lock);
    if (!run->failed)
        run->error = *error;
    run->failed = true;
    pthread_mutex_unlock(&run->lock);
}

static void open_next_stretch(struct decode_run *run, struct stream_progress *progress)
{
    if (progress->stretch == progress->stream->stretches.count) {
        progress->done = true;
        return;
    }
    const struct trace_stretch *stretch = trace_stretch_at(progress->stream, progress->stretch++);
    struct decoder_input input = {.bytes = trace_stretch_bytes(stretch, &progress->copy),
                                  .size = stretch->size,
                                  .schedule = &progress->schedule,
                                  .lost_after = stretch->lost_after};
    struct error error;
    progress->reported = 0;
    progress->decoder = decoder_open(run->request->shared, &input, &error);
    if (progress->decoder)
        return;
    free(progress->copy);
    progress->done = true;
    report_failure(run, &error);
}

static void close_stretch(struct decode_run *run, struct stream_progress *progress)
{
    pthread_mutex_lock(&run->lock);
    decoder_add_statistics(progress->decoder, &run->statistics);
    pthread_mutex_unlock(&run->lock);
    decoder_close(progress->decoder);
    free(progress->copy);
    progress->decoder = NULL;
    progress->copy = NULL;
}

/* Decodes a while, but nothing that happened after `limit`. */
static void advance_stream(struct decode_run *run, struct stream_progress *progress,
                           struct ticks limit)
{
    if (!progress->decoder)
        open_next_stretch(run, progress);
    if (progress->done)
        return;
    bool more = decoder_run(progress->decoder, limit, STEPS_BETWEEN_PROGRESS);
    uint64_t offset = decoder_offset(progress->decoder);
    if (offset > progress->reported) {
        atomic_fetch_add(&run->bytes_done, offset - progress->reported);
        progress->reported = offset;
    }
    if (!more)
        close_stretch(run, progress);
}

/* How far a stream has come: nothing that it will yield is earlier. */
static uint64_t stream_time(const struct stream_progress *progress)
{
    return progress->decoder ? decoder_time(progress->decoder).value : 0;
}

/* Always lets the stream that is farthest behind go on, up to the second farthest: so a thread that
 * moved from one processor to another gets its events in order. */
static bool advance_farthest_behind(struct decode_run *run, struct stream_progress *progress,
                                    size_t count)
{
    struct stream_progress *first = NULL;
    uint64_t limit = UINT64_MAX;
    for (size_t i = 0; i < count; i++) {
        if (progress[i].done)
            continue;
        if (first && stream_time(&progress[i]) >= stream_time(first)) {
            if (stream_time(&progress[i]) < limit)
                limit = stream_time(&progress[i]);
        } else {
            if (first)
                limit = stream_time(first);
            first = &progress[i];
        }
    }
    if (!first)
        return false;
    advance_stream(run, first, (struct ticks){limit});
    return true;
}

/* Jobs. */

static struct decode_job *add_job(struct decode_run *run, struct receiver *receiver)
{
    size_t order = run->jobs.count;
    struct decode_job *job = array_add(&run->jobs);
    job->streams = array_of(sizeof(struct stream_progress));
    job->receiver = receiver;
    job->order = order;
    return job;
}

static struct stream_progress *add_stream(struct decode_job *job, const struct trace_stream *stream)
{
    struct stream_progress *progress = array_add(&job->streams);
    progress->stream = stream;
    job->size += stream->size;
    return progress;
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
        schedule_of_thread(&add_stream(job, stream)->schedule, &receiver->output,
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
        struct schedule *schedule = &add_stream(job, stream)->schedule;
        if (request->data->setup.per_cpu)
            schedule_of_processor(schedule, request->data, stream->cpu, request->spaces,
                                  find_output, run);
        else
            schedule_of_thread(schedule, NULL, NULL);
    }
}

static int largest_first(const void *left, const void *right)
{
    const struct decode_job *a = left, *b = right;
    if (a->size != b->size)
        return a->size < b->size ? 1 : -1;
    return a->order < b->order ? -1 : a->order > b->order;
}

static void prepare_jobs(struct decode_run *run)
{
    run->jobs = array_of(sizeof(struct decode_job));
    add_thread_jobs(run);
    add_processors_job(run);
    for (size_t i = 0; i < run->jobs.count; i++)
        run->bytes += ((const struct decode_job *)array_at(&run->jobs, i))->size;
    if (run->jobs.count)
        qsort(run->jobs.elements, run->jobs.count, sizeof(struct decode_job), largest_first);
}

static void free_jobs(struct decode_run *run)
{
    for (size_t i = 0; i < run->jobs.count; i++) {
        struct decode_job *job = array_at(&run->jobs, i);
        for (size_t j = 0; j < job->streams.count; j++)
            schedule_free(&((struct stream_progress *)array_at(&job->streams, j))->schedule);
        array_free(&job->streams);
    }
    array_free(&run->jobs);
}

static void do_job(struct decode_run *run, struct decode_job *job)
{
    while (advance_farthest_behind(run, job->streams.elements, job->streams.count))
        ;
    if (job->receiver)
        thread_output_end(&job->receiver->output);
}

/* Workers. */

static void *work(void *context)
{
    struct decode_run *run = context;
    for (;;) {
        size_t index = atomic_fetch_add(&run->next_job, 1);
        if (index >= run->jobs.count)
            break;
        do_job(run, array_at(&run->jobs, index));
    }
    pthread_mutex_lock(&run->lock);
    run->working--;
    pthread_cond_signal(&run->changed);
    pthread_mutex_unlock(&run->lock);
    return NULL;
}

static unsigned usable_cores(const struct decode_run *run)
{
    unsigned cores = run->request->options->cores;
    cpu_set_t set;
    if (!cores && sched_getaffinity(0, sizeof(set), &set) == 0)
        cores = (unsigned)CPU_COUNT(&set);
    if (cores > run->jobs.count)
        cores = (unsigned)run->jobs.count;
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

bool decode_all(const struct decode_request *request, struct flow_statistics *statistics,
                struct error *error)
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
    if (run.failed && error)
        *error = run.error;
    return !run.failed;
}
