#include "decode/pt/decode_jobs.h"

#include "base/memory.h"
#include "decode/flow_options.h"
#include "decode/pt/decode_plan.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>

enum {
    STEPS_AT_ONCE = 1 << 13, /* packets between two looks at the other workers */
    /* Events of PSB segments that were decoded before their turn, per worker: some megabytes, of
     * which most stay in the processor's cache. */
    KEPT_AT_MOST = 1 << 17,
    PROGRESS_INTERVAL_NS = 100 * 1000 * 1000,
};

struct decode_run {
    struct decode_plan plan;
    atomic_uint_fast64_t bytes_done;

    pthread_mutex_t lock;    /* for the fields below, and for changes of jobs and PSB segments */
    pthread_cond_t changed;  /* fewer events are waiting, or fewer workers handle them */
    pthread_cond_t finished; /* no worker is left */
    size_t next_psb_segment;
    unsigned decoding;   /* workers that decode */
    unsigned passing_on; /* workers that pass events on */
    uint64_t kept;       /* events waiting to be passed on */
    unsigned workers, working;
    struct flow_statistics statistics;
};

/* Passing events on. */

static bool is_first_of_job(const struct psb_segment_work *work)
{
    const struct decode_job *job = work->job;
    return job->streams.count == 1 &&
           psb_segment_work_at(&work->stream->psb_segments, work->stream->next) == work;
}

/* All events of the PSB segment have been passed on. */
static void drop_psb_segment(struct decode_run *run, struct psb_segment_work *work)
{
    run->kept -= work->reorder_buffer.events;
    reorder_buffer_free(&work->reorder_buffer);
    work->stream->next++;
    pthread_cond_broadcast(&run->changed);
}

static void drop_passed_on(struct decode_run *run, struct stream_work *stream)
{
    struct ticks time;
    while (stream->next < stream->psb_segments.count) {
        struct psb_segment_work *work = psb_segment_work_at(&stream->psb_segments, stream->next);
        if (!work->done || reorder_buffer_time(&work->reorder_buffer, &time))
            return;
        drop_psb_segment(run, work);
    }
}

/* The stream whose next run is the earliest, or may be the earliest; NULL if no stream has one. */
static struct stream_work *earliest(struct decode_run *run, struct decode_job *job)
{
    struct stream_work *first = NULL;
    struct ticks first_time = {0};
    for (size_t i = 0; i < job->streams.count; i++) {
        struct stream_work *stream = job_stream(job, i);
        drop_passed_on(run, stream);
        if (stream->next == stream->psb_segments.count)
            continue;
        struct psb_segment_work *work = psb_segment_work_at(&stream->psb_segments, stream->next);
        struct ticks time = work->psb_segment.time;
        if (work->done)
            reorder_buffer_time(&work->reorder_buffer, &time);
        if (first && time.value >= first_time.value)
            continue;
        first = stream;
        first_time = time;
    }
    return first;
}

/* Passes on all events whose turn has come. Called with the lock held; releases it meanwhile. */
static void pass_on(struct decode_run *run, struct decode_job *job)
{
    struct stream_work *stream;
    struct psb_segment_work *work;
    if (job->busy)
        return;
    job->busy = true;
    run->passing_on++;
    while ((stream = earliest(run, job)) != NULL &&
           (work = psb_segment_work_at(&stream->psb_segments, stream->next))->done) {
        pthread_mutex_unlock(&run->lock);
        reorder_buffer_pass_on(&work->reorder_buffer);
        pthread_mutex_lock(&run->lock);
    }
    if (!stream && job->event_sink) {
        pthread_mutex_unlock(&run->lock);
        thread_output_end(&job->event_sink->output);
        pthread_mutex_lock(&run->lock);
    }
    run->passing_on--;
    job->busy = false;
}

/* Workers. */

/* If everything before the PSB segment has been passed on by now, it need not keep its events:
 * nobody else passes on events of its job until it is done. */
static void catch_up(struct decode_run *run, struct psb_segment_work *work)
{
    struct reorder_buffer *reorder_buffer = &work->reorder_buffer;
    struct ticks time;
    if (reorder_buffer->direct)
        return;
    pthread_mutex_lock(&run->lock);
    bool is_next = is_first_of_job(work);
    pthread_mutex_unlock(&run->lock);
    if (!is_next)
        return;
    while (reorder_buffer_time(reorder_buffer, &time))
        reorder_buffer_pass_on(reorder_buffer);
    reorder_buffer_forget(reorder_buffer);
    reorder_buffer->direct = true;
}

static void decode_psb_segment(struct decode_run *run, struct decoder_memory *memory,
                               struct psb_segment_work *work)
{
    const struct decoder_input input = {.bytes = work->bytes->bytes,
                                        .size = work->segment->size,
                                        .start = work->psb_segment.start,
                                        .stop = work->psb_segment.stop,
                                        .offset = work->segment->end - work->segment->size,
                                        .observer = run->plan.request->observer,
                                        .schedule = &work->stream->schedule,
                                        .reorder_buffer = &work->reorder_buffer,
                                        .lost_after = work->last && work->segment->lost_after};
    struct decoder *decoder = decoder_open(run->plan.request->shared, memory, &input);
    while (decoder_run(decoder, STEPS_AT_ONCE))
        catch_up(run, work);
    pthread_mutex_lock(&run->lock);
    decoder_add_statistics(decoder, &run->statistics);
    pthread_mutex_unlock(&run->lock);
    decoder_close(decoder);
    atomic_fetch_add(&run->bytes_done, work->psb_segment.stop - work->psb_segment.start);
}

/* The next PSB segment to be decoded; NULL: all were taken. Waits while too many events are
 * waiting to be passed on, unless no other worker is active that could pass them on. Called with
 * the lock held.
 */
static struct psb_segment_work *next_psb_segment(struct decode_run *run)
{
    uint64_t at_most = (uint64_t)run->workers * KEPT_AT_MOST;
    while (run->next_psb_segment < run->plan.psb_segments.count && run->kept > at_most &&
           run->decoding + run->passing_on > 0)
        pthread_cond_wait(&run->changed, &run->lock);
    if (run->next_psb_segment == run->plan.psb_segments.count)
        return NULL;
    return psb_segment_work_at(&run->plan.psb_segments, run->next_psb_segment++);
}

static void *work(void *context)
{
    struct decode_run *run = context;
    struct decoder_memory *memory = decoder_memory_new();
    struct psb_segment_work *psb_segment;
    pthread_mutex_lock(&run->lock);
    while ((psb_segment = next_psb_segment(run)) != NULL) {
        reorder_buffer_init(&psb_segment->reorder_buffer, is_first_of_job(psb_segment));
        run->decoding++;
        pthread_mutex_unlock(&run->lock);
        decode_psb_segment(run, memory, psb_segment);
        pthread_mutex_lock(&run->lock);
        run->decoding--;
        run->kept += psb_segment->reorder_buffer.events;
        psb_segment->done = true;
        pass_on(run, psb_segment->job);
        pthread_cond_broadcast(&run->changed); /* another worker may be waiting for this one */
    }
    if (!--run->working)
        pthread_cond_signal(&run->finished);
    pthread_mutex_unlock(&run->lock);
    decoder_memory_free(memory);
    return NULL;
}

static unsigned usable_cores(const struct decode_run *run)
{
    unsigned cores = run->plan.request->observer ? 1 : run->plan.request->options->cores;
    cpu_set_t set;
    if (!cores && sched_getaffinity(0, sizeof(set), &set) == 0)
        cores = (unsigned)CPU_COUNT(&set);
    if (cores > run->plan.psb_segments.count)
        cores = (unsigned)run->plan.psb_segments.count;
    return cores ? cores : 1;
}

/* Reports progress until the workers are done. */
static void watch(struct decode_run *run)
{
    const struct flow_options *options = run->plan.request->options;
    pthread_mutex_lock(&run->lock);
    while (run->working) {
        struct timespec until;
        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_nsec += PROGRESS_INTERVAL_NS;
        until.tv_sec += until.tv_nsec / 1000000000;
        until.tv_nsec %= 1000000000;
        pthread_cond_timedwait(&run->finished, &run->lock, &until);
        if (!options->progress)
            continue;
        pthread_mutex_unlock(&run->lock);
        options->progress("Decoding", atomic_load(&run->bytes_done), run->plan.bytes);
        pthread_mutex_lock(&run->lock);
    }
    pthread_mutex_unlock(&run->lock);
}

/* Decodes on `cores` threads, or on as many as the system lets us start; at worst on this thread.
 */
static void run_workers(struct decode_run *run, unsigned cores)
{
    pthread_t *workers = memory_allocate(cores * sizeof(*workers));
    unsigned started = 0;
    run->workers = run->working = cores;
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
    struct decode_run run = {.statistics = *statistics};
    pthread_mutex_init(&run.lock, NULL);
    pthread_cond_init(&run.changed, NULL);
    pthread_cond_init(&run.finished, NULL);
    decode_plan_make(&run.plan, request);
    run_workers(&run, usable_cores(&run));
    decode_plan_free(&run.plan, &run.statistics);
    pthread_cond_destroy(&run.finished);
    pthread_cond_destroy(&run.changed);
    pthread_mutex_destroy(&run.lock);
    *statistics = run.statistics;
}
