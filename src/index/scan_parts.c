#include "index/scan_parts.h"

#include "base/array.h"
#include "base/smaller.h"

#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

/* THREAD_CHUNKS: with fewer to scan, another thread is not worth its start. */
enum { PART_CHUNKS = 64, THREAD_CHUNKS = 8, THREADS_MAX = 16 };

struct work {
    const struct part_scanner *scanner;
    struct array parts; /* of struct scan_part */
    size_t chunks;      /* of them all, about */
    atomic_size_t taken;
    atomic_bool failed;
    pthread_mutex_t lock;
    struct error error;
};

/* ---- parts ---- */

static void add_track(const struct trace_index *index, uint32_t track, struct index_range range,
                      struct work *work)
{
    const struct chunk_run run = index_spans_of(index, track);
    size_t chunk = chunk_run_find(&run, range.from);
    struct array *parts = &work->parts;
    struct scan_part part = {track, range, true};
    work->chunks += chunk_run_find(&run, range.to) - chunk;
    for (chunk += PART_CHUNKS; chunk < run.count; chunk += PART_CHUNKS) {
        uint64_t cut = run.chunks[chunk].first_end;
        if (cut >= range.to)
            break;
        if (cut <= part.range.from)
            continue;
        part.range.to = cut;
        array_add_all(parts, &part, 1);
        part = (struct scan_part){track, {cut, range.to}, false};
    }
    array_add_all(parts, &part, 1);
}

static bool find_parts(const struct trace_index *index, struct index_tracks tracks,
                       struct index_range range, struct work *work, struct error *error)
{
    size_t count = tracks.ids ? tracks.count : index->facts.tracks;
    for (size_t i = 0; i < count; i++) {
        uint32_t track = tracks.ids ? tracks.ids[i] : (uint32_t)i;
        if (!index_check_track(index, track, error))
            return false;
        if (tracks.ids || !index->tracks[track].is_hits)
            add_track(index, track, range, work);
    }
    return true;
}

/* ---- threads ---- */

static void *work_on(void *argument)
{
    struct work *work = argument;
    void *state = work->scanner->begin(work->scanner->context);
    struct error error = {0};
    for (;;) {
        size_t part = atomic_fetch_add(&work->taken, 1);
        if (part >= work->parts.count || atomic_load(&work->failed))
            break;
        if (!work->scanner->scan(state, array_at(&work->parts, part), &error))
            atomic_store(&work->failed, true);
    }
    pthread_mutex_lock(&work->lock);
    if (error.code != ERROR_NONE)
        work->error = error;
    work->scanner->end(work->scanner->context, state);
    pthread_mutex_unlock(&work->lock);
    return NULL;
}

static size_t threads_for(const struct work *work)
{
    size_t useful = smaller(work->parts.count, work->chunks / THREAD_CHUNKS);
    if (useful < 2)
        return 1;
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    return smaller(smaller(useful, THREADS_MAX), processors > 1 ? (size_t)processors : 1);
}

/* This thread works too, so the work is done even if no other thread can be created. */
static void work_together(struct work *work)
{
    pthread_t threads[THREADS_MAX];
    size_t wanted = threads_for(work), made = 0;
    while (made + 1 < wanted && pthread_create(&threads[made], NULL, work_on, work) == 0)
        made++;
    work_on(work);
    for (size_t i = 0; i < made; i++)
        pthread_join(threads[i], NULL);
}

bool scan_parts(const struct trace_index *index, struct index_tracks tracks,
                struct index_range range, const struct part_scanner *scanner, struct error *error)
{
    struct work work = {
        .scanner = scanner,
        .parts = array_of(sizeof(struct scan_part)),
        .lock = PTHREAD_MUTEX_INITIALIZER,
    };
    if (range.to > index->facts.duration + 1)
        range.to = index->facts.duration + 1;
    bool ok = range.from >= range.to || find_parts(index, tracks, range, &work, error);
    if (ok && work.parts.count > 0)
        work_together(&work);
    if (work.error.code != ERROR_NONE) {
        ok = false;
        if (error)
            *error = work.error;
    }
    array_free(&work.parts);
    return ok;
}
