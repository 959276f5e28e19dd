#include "output/fxt/fxt_reader.h"

#include "base/array.h"
#include "base/memory.h"
#include "output/fxt/fxt_parser.h"
#include "output/fxt/span_nesting.h"

#include <stdlib.h>

struct fxt_reader {
    struct span_source source;
    struct fxt_parser *parser;
    struct span_nesting nesting;
    size_t given;          /* of nesting.ready */
    bool streams;          /* events come from the parser; otherwise from `events` */
    struct array events;   /* of struct fxt_raw_event, in the order of the file */
    uint64_t *order;       /* indices into events, by time; owned */
    size_t replayed;       /* of order */
    bool fed, finished;    /* all events were fed to the nesting; it was finished */
    struct error ended_by; /* why the parser stopped */
};

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
    const struct fxt_raw_event *events;
    size_t taken;
    while ((taken = fxt_parser_take(reader->parser, &events, &reader->ended_by)) > 0)
        array_add_all(&reader->events, events, taken);
    size_t count = reader->events.count;
    reader->order = memory_allocate((count + 1) * sizeof *reader->order);
    for (size_t i = 0; i < count; i++)
        reader->order[i] = i;
    qsort_r(reader->order, count, sizeof *reader->order, compare_times, reader->events.elements);
}

/* The second reading must not use threads that the first did not find: there are no tracks for
 * them. Returns how many of the events are of known ones. */
static size_t known_events(struct fxt_reader *reader, const struct fxt_raw_event *events,
                           size_t count)
{
    size_t known = 0;
    while (known < count && events[known].track < reader->source.track_count)
        known++;
    if (known < count)
        error_set(&reader->ended_by, ERROR_FORMAT,
                  "the trace changed while it was being read. Wait until it is complete, then read "
                  "it again");
    return known;
}

/* Feeds the next events of the trace; false at its end. */
static bool feed_streamed(struct fxt_reader *reader)
{
    const struct fxt_raw_event *events;
    size_t count = fxt_parser_take(reader->parser, &events, &reader->ended_by);
    size_t known = known_events(reader, events, count);
    span_nesting_feed(&reader->nesting, events, known);
    return count > 0 && known == count;
}

static bool feed_sorted(struct fxt_reader *reader)
{
    const struct fxt_raw_event *events = reader->events.elements;
    bool more = reader->replayed < reader->events.count;
    span_nesting_feed(&reader->nesting, more ? &events[reader->order[reader->replayed]] : NULL,
                      more);
    reader->replayed += more;
    return more;
}

/* Makes spans ready that have not been given yet; false when there are no more. */
static bool make_ready(struct fxt_reader *reader)
{
    const struct array *ready = &reader->nesting.ready;
    while (reader->given == ready->count) {
        if (reader->finished)
            return false;
        reader->given = 0;
        if (!reader->fed) {
            reader->fed = reader->streams ? !feed_streamed(reader) : !feed_sorted(reader);
        } else {
            span_nesting_finish(&reader->nesting);
            reader->finished = true;
        }
    }
    reader->source.function_count = fxt_parser_function_count(reader->parser);
    return true;
}

static size_t take_span_events(struct span_source *source, const struct span_event **events,
                               struct error *error)
{
    struct fxt_reader *reader = source->context;
    if (!make_ready(reader)) {
        if (error)
            *error = reader->ended_by;
        return 0;
    }
    const struct array *ready = &reader->nesting.ready;
    size_t count = ready->count - reader->given;
    *events = array_at(ready, reader->given);
    reader->given = ready->count;
    return count;
}

static bool next_span_event(struct span_source *source, struct span_event *event,
                            struct error *error)
{
    struct fxt_reader *reader = source->context;
    if (!make_ready(reader)) {
        if (error)
            *error = reader->ended_by;
        return false;
    }
    *event = *(struct span_event *)array_at(&reader->nesting.ready, reader->given++);
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
    reader->source = (struct span_source){
        .context = reader,
        .next = next_span_event,
        .take = take_span_events,
        .close = close_reader,
    };
    if (!fxt_parser_survey(parser, &reader->streams, error)) {
        close_reader(&reader->source);
        return NULL;
    }
    if (!reader->streams)
        sort_events(reader);
    reader->source.tracks = fxt_parser_tracks(parser, &reader->source.track_count);
    reader->source.function_count = fxt_parser_function_count(parser);
    reader->source.wall_clock = fxt_parser_wall_clock(parser);
    reader->source.sampled = fxt_parser_is_sampled(parser);
    reader->source.recorded = fxt_parser_recorded(parser);
    span_nesting_init(&reader->nesting, reader->source.track_count);
    return &reader->source;
}
