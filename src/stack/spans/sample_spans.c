#include "stack/spans/sample_spans.h"

#include "base/memory.h"
#include "base/printable.h"
#include "decode/trace_marks.h"
#include "stack/spans/processor_counters.h"
#include "stack/spans/span_overlay.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <uthash.h>

/* A thread and an event: each such pair has a track. */
struct track_key {
    uint32_t tid, event; /* index of the event; the index after the last is for values of PTWRITE */
};

struct sampled_track {
    struct track_key key;
    uint32_t track; /* number in the overlay */
    UT_hash_handle hh;
};

struct sample_tracks {
    const struct span_source *source;
    const struct flow *flow;
    const struct perf_data *data; /* of `flow` */
    struct span_overlay overlay;
    struct sampled_track *by_key; /* owned */
    uint32_t first_number;        /* for tracks: the number of no thread */
};

/* More tracks would not be readable. */
enum { TRACKS_MAX = 4096 };

static const uint32_t NO_TRACK = UINT32_MAX;

static const struct span_track *track_of_thread(const struct span_source *source, uint32_t tid)
{
    for (size_t i = 0; i < source->track_count; i++)
        if (source->tracks[i].tid == tid)
            return &source->tracks[i];
    return NULL;
}

static const char *name_of(const struct sample_tracks *tracks, uint32_t event)
{
    return event < tracks->data->event_count ? tracks->data->events[event].name : "PTWRITE";
}

static void add_track(struct sample_tracks *tracks, struct sampled_track *added,
                      const struct span_track *thread)
{
    uint32_t index = (uint32_t)tracks->overlay.tracks.count;
    char *name = memory_format("%s of %s (%u)", name_of(tracks, added->key.event),
                               thread->thread_name, thread->tid);
    added->track = (uint32_t)tracks->source->track_count + index;
    *(struct span_track *)array_add(&tracks->overlay.tracks) = (struct span_track){
        .pid = thread->pid,
        .tid = tracks->first_number + index,
        .process_name = thread->process_name,
        .thread_name = arena_copy_string(&tracks->overlay.memory, name),
    };
    free(name);
}

/* NULL for a thread that was not traced. */
static const struct sampled_track *find_track(struct sample_tracks *tracks, struct track_key key)
{
    struct sampled_track *found;
    HASH_FIND(hh, tracks->by_key, &key, sizeof key, found);
    if (found)
        return found->track != NO_TRACK ? found : NULL;
    found = memory_allocate_zeroed(sizeof *found);
    found->key = key;
    found->track = NO_TRACK;
    HASH_ADD(hh, tracks->by_key, key, sizeof found->key, found);
    const struct span_track *thread = track_of_thread(tracks->source, key.tid);
    if (!thread || tracks->overlay.tracks.count == TRACKS_MAX)
        return NULL;
    add_track(tracks, found, thread);
    return found;
}

/* Records are in the order of time. Those before the trace's beginning are left out. */
static void add_samples(struct sample_tracks *tracks, struct nanoseconds origin)
{
    const struct perf_data *data = tracks->data;
    for (size_t i = 0; i < data->record_count; i++) {
        const struct sideband_record *record = &data->records[i];
        if (record->kind != SIDEBAND_SAMPLE || record->time.value < origin.value ||
            flow_follows_event(tracks->flow, record->sample.event))
            continue;
        const struct sampled_track *track =
            find_track(tracks, (struct track_key){record->tid, record->sample.event});
        if (!track)
            continue;
        *(struct span_event *)array_add(&tracks->overlay.events) = (struct span_event){
            .kind = SPAN_INSTANT,
            .track = track->track,
            .time = {record->time.value - origin.value},
            .address = record->sample.ip,
            .text =
                printable_name(&tracks->overlay.memory, data->events[record->sample.event].name),
        };
    }
}

static const char *text_of(struct sample_tracks *tracks, const struct trace_mark *mark)
{
    char text[32];
    snprintf(text, sizeof text, "0x%" PRIx64, mark->value);
    return arena_copy_string(&tracks->overlay.memory, text);
}

static void add_values(struct sample_tracks *tracks, const struct array *marks,
                       struct nanoseconds origin)
{
    for (size_t i = 0; i < marks->count; i++) {
        const struct trace_mark *mark = array_at(marks, i);
        if (mark->kind != TRACE_MARK_VALUE || mark->time.value < origin.value)
            continue;
        const struct sampled_track *track =
            find_track(tracks, (struct track_key){mark->tid, (uint32_t)tracks->data->event_count});
        if (!track)
            continue;
        *(struct span_event *)array_add(&tracks->overlay.events) = (struct span_event){
            .kind = SPAN_INSTANT,
            .track = track->track,
            .time = {mark->time.value - origin.value},
            .text = text_of(tracks, mark),
        };
    }
}

static void add_marks(struct sample_tracks *tracks, struct nanoseconds origin)
{
    struct array marks = array_of(sizeof(struct trace_mark));
    flow_marks(tracks->flow, &marks);
    add_values(tracks, &marks, origin);
    processor_counters_add(&tracks->overlay, tracks->source, &marks, origin);
    array_free(&marks);
}

/* Compares pointers into one array, so that events at the same time stay in their order. */
static int by_time(const void *left, const void *right)
{
    const struct span_event *const *a = left, *const *b = right;
    if ((*a)->time.value != (*b)->time.value)
        return (*a)->time.value < (*b)->time.value ? -1 : 1;
    return (*a > *b) - (*a < *b);
}

static void sort_by_time(struct array *events)
{
    size_t count = events->count;
    const struct span_event **order = memory_allocate(count * sizeof *order);
    struct array sorted = array_of(sizeof(struct span_event));
    for (size_t i = 0; i < count; i++)
        order[i] = array_at(events, i);
    qsort(order, count, sizeof *order, by_time);
    for (size_t i = 0; i < count; i++)
        array_add_all(&sorted, order[i], 1);
    free(order);
    array_free(events);
    *events = sorted;
}

static void free_keys(struct sample_tracks *tracks)
{
    struct sampled_track *track, *next;
    HASH_ITER(hh, tracks->by_key, track, next)
    {
        HASH_DEL(tracks->by_key, track);
        free(track);
    }
}

struct span_source *sample_spans(struct span_source *source, const struct flow *flow,
                                 struct nanoseconds origin, const struct span_functions *functions)
{
    struct sample_tracks tracks = {
        .source = source,
        .flow = flow,
        .data = flow_perf_data(flow),
        .overlay = span_overlay_new(),
        .first_number = span_overlay_free_number(source, TRACKS_MAX),
    };
    /* Without a clock in the recording the times of samples and of packets cannot be compared. */
    if (tracks.data->setup.has_clock)
        add_samples(&tracks, origin);
    size_t samples = tracks.overlay.events.count;
    add_marks(&tracks, origin);
    if (tracks.overlay.events.count > samples)
        sort_by_time(&tracks.overlay.events);
    free_keys(&tracks);
    if (tracks.overlay.events.count > 0)
        return span_overlay_open(source, &tracks.overlay, functions);
    return source;
}
