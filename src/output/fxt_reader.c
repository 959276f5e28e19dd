#include "output/fxt_reader.h"

#include "base/array.h"
#include "base/log.h"
#include "base/memory.h"
#include "output/fxt_parser.h"
#include "output/span_nesting.h"

#include <stdlib.h>

/* Events between two looks at the progress line. */
static const uint64_t EVENTS_PER_LOOK = 1 << 16;

struct fxt_reader {
    struct span_source source;
    struct fxt_parser *parser;
    struct span_nesting nesting;
    bool streams;        /* events come from the parser; otherwise from `events` */
    struct array events; /* of struct fxt_raw_event, in the order of the file */
    uint64_t *order;     /* indices into events, by time; owned */
    size_t replayed;     /* of order */
    bool finished;
    struct error ended_by; /* why the parser stopped */
};

/* Reads the whole trace for its names, and tells whether its events are in time order. */
static bool survey(struct fxt_parser *parser)
{
    struct fxt_raw_event event;
    struct error ignored; /* damage is met again, and told, when the events are read */
    uint64_t last = 0;
    bool in_order = true;
    for (uint64_t count = 0; fxt_parser_next(parser, &event, &ignored); count++) {
        if (count % EVENTS_PER_LOOK == 0)
            log_progress("Looking through the trace", count, 0);
        /* A complete event in order may still end after what comes next, which is no trouble. */
        in_order = in_order && event.time >= last;
        last = event.time;
    }
    log_progress_end();
    return in_order;
}

static int compare_times(const void *a, const void *b, void *context)
{
    const struct fxt_raw_event *events = context;
    uint64_t index_a = *(const uint64_t *)a, index_b = *(const uint64_t *)b;
    uint64_t time_a = events[index_a].time, time_b = events[index_b].time;
    if (time_a != time_b)
        return time_a < time_b ? -1 : 1;
    return index_a < index_b ? -1 : 1; /* at equal times the order of the file counts */
}

static void sort_events(struct fxt_reader *reader)
{
    struct fxt_raw_event event;
    while (fxt_parser_next(reader->parser, &event, &reader->ended_by))
        array_add_all(&reader->events, &event, 1);
    size_t count = reader->events.count;
    reader->order = memory_allocate((count + 1) * sizeof *reader->order);
    for (size_t i = 0; i < count; i++)
        reader->order[i] = i;
    qsort_r(reader->order, count, sizeof *reader->order, compare_times, reader->events.elements);
}

/* The second reading must not meet threads that the first did not: nobody has room for them. */
static bool next_streamed_event(struct fxt_reader *reader, struct fxt_raw_event *event)
{
    if (!fxt_parser_next(reader->parser, event, &reader->ended_by))
        return false;
    if (event->track < reader->source.track_count)
        return true;
    return error_set(
        &reader->ended_by, ERROR_FORMAT,
        "the trace changed while it was being read. Wait until it is complete, then read it again");
}

/* The next event of the trace in time order. */
static bool next_raw_event(struct fxt_reader *reader, struct fxt_raw_event *event)
{
    if (reader->streams)
        return next_streamed_event(reader, event);
    if (reader->replayed == reader->events.count)
        return false;
    *event = *(struct fxt_raw_event *)array_at(&reader->events, reader->order[reader->replayed++]);
    return true;
}

static bool next_span_event(struct span_source *source, struct span_event *event,
                            struct error *error)
{
    struct fxt_reader *reader = source->context;
    struct fxt_raw_event raw;
    while (!span_nesting_take(&reader->nesting, event)) {
        if (reader->finished) {
            if (error)
                *error = reader->ended_by;
            return false;
        }
        if (next_raw_event(reader, &raw)) {
            span_nesting_feed(&reader->nesting, &raw);
        } else {
            span_nesting_finish(&reader->nesting);
            reader->finished = true;
        }
    }
    return true;
}

static void close_reader(struct span_source *source)
{
    struct fxt_reader *reader = source->context;
    fxt_parser_close(reader->parser);
    span_nesting_free(&reader->nesting);
    array_free(&reader->events);
    free(reader->order);
    free(reader);
}

struct span_source *fxt_read(const char *path, struct error *error)
{
    struct fxt_parser *parser = fxt_parser_open(path, error);
    if (!parser)
        return NULL;
    struct fxt_reader *reader = memory_allocate_zeroed(sizeof *reader);
    reader->parser = parser;
    reader->events = array_of(sizeof(struct fxt_raw_event));
    span_nesting_init(&reader->nesting);
    reader->source = (struct span_source){
        .context = reader,
        .next = next_span_event,
        .close = close_reader,
    };
    reader->streams = survey(parser);
    if (!fxt_parser_rewind(parser, error)) {
        close_reader(&reader->source);
        return NULL;
    }
    if (!reader->streams)
        sort_events(reader);
    reader->source.tracks = fxt_parser_tracks(parser, &reader->source.track_count);
    reader->source.function_count = fxt_parser_function_count(parser);
    reader->source.wall_clock = fxt_parser_wall_clock(parser);
    return &reader->source;
}
