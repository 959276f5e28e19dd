#include "output/report/report_tree.h"

#include "base/arena.h"
#include "base/array.h"
#include "output/report/folded_lines.h"
#include "output/report/report_events.h"
#include "output/report/trace_window.h"
#include "output/report/tree_lines.h"

enum { NOT_SHOWN = -1 };

struct open_span {
    const struct span_function *function;
    const struct span_hit *hit; /* or NULL */
    uint64_t start;
    int64_t line; /* index into the track's lines, or NOT_SHOWN */
    uint8_t flags;
};

struct tree_track {
    struct array open;  /* of struct open_span */
    struct array lines; /* of struct tree_line, callers before callees, in time order */
};

struct tree {
    const struct span_source *source;
    struct trace_window window;
    struct arena values; /* of calls */
    bool showing;        /* the window has begun: its callers are lines already */
    struct array tracks; /* of struct tree_track */
    uint64_t last;       /* ns: time of the last event */
};

/* ------------------------------------------------------------------ reading */

static struct tree_track *track_of(struct tree *tree, uint32_t track)
{
    while (tree->tracks.count <= track) {
        struct tree_track *added = array_add(&tree->tracks);
        added->open = array_of(sizeof(struct open_span));
        added->lines = array_of(sizeof(struct tree_line));
    }
    return array_at(&tree->tracks, track);
}

static void show(struct tree_track *track, size_t depth)
{
    struct open_span *span = array_at(&track->open, depth);
    span->line = (int64_t)track->lines.count;
    struct tree_line *line = array_add(&track->lines);
    line->function = span->function;
    line->start = span->start;
    line->depth = (uint32_t)depth;
    line->flags = span->flags;
}

/* What is open when the window begins is shown as the callers of what happens in it. */
static void show_open_spans(struct tree *tree)
{
    for (size_t i = 0; i < tree->tracks.count; i++) {
        struct tree_track *track = array_at(&tree->tracks, i);
        for (size_t depth = 0; depth < track->open.count; depth++)
            if (!((struct open_span *)array_at(&track->open, depth))->hit)
                show(track, depth);
    }
    tree->showing = true;
}

static void enter(struct tree_track *track, const struct span_event *event, bool shown)
{
    struct open_span *span = array_add(&track->open);
    *span = (struct open_span){
        .function = event->function,
        .hit = event->hit,
        .start = event->time.value,
        .line = NOT_SHOWN,
        .flags = event->flags,
    };
    if (shown && !event->hit)
        show(track, track->open.count - 1);
}

/* A hit's span ends when it happens, and so it is shown at its place in time. */
static void add_hit(struct tree *tree, const struct open_span *span, const struct span_event *event)
{
    struct tree_track *track = track_of(
        tree, span_track_of_hit(tree->source, span->hit->pid, span->hit->tid, event->track));
    struct tree_line *line = array_add(&track->lines);
    line->function = span->function;
    line->hit = span->hit;
    line->start = event->time.value;
    line->length = span_hit_length(span->hit);
    line->depth = (uint32_t)track->open.count;
}

static void leave(struct tree *tree, const struct span_event *event, bool shown)
{
    struct tree_track *track = track_of(tree, event->track);
    if (track->open.count == 0)
        return;
    const struct open_span *span = array_at(&track->open, --track->open.count);
    if (span->hit && shown && event->end != SPAN_END_FILTER) {
        struct open_span hit = *span; /* adding tracks moves it */
        add_hit(tree, &hit, event);
        return;
    }
    if (span->line == NOT_SHOWN)
        return;
    struct tree_line *line = array_at(&track->lines, (size_t)span->line);
    line->length = event->time.value - span->start;
    line->values = named_values_copy(&tree->values, event->values);
    line->flags |= event->flags;
    line->end = (uint8_t)event->end;
}

static void add_instant(struct tree_track *track, const struct span_event *event)
{
    struct tree_line *line = array_add(&track->lines);
    line->text = event->text;
    line->start = event->time.value;
    line->depth = (uint32_t)track->open.count;
}

static void read_event(struct tree *tree, const struct span_event *event)
{
    enum window_state state = trace_window_meet(&tree->window, event);
    if (tree->window.opened && !tree->showing)
        show_open_spans(tree);
    struct tree_track *track = track_of(tree, event->track);
    switch (event->kind) {
    case SPAN_ENTER:
        enter(track, event, state == WINDOW_INSIDE);
        break;
    case SPAN_LEAVE:
        leave(tree, event, state == WINDOW_INSIDE);
        break;
    case SPAN_INSTANT:
        if (state == WINDOW_INSIDE)
            add_instant(track, event);
        break;
    case SPAN_COUNTER:
        break;
    case SPAN_MOVE:
        break; /* only for those who ask for it */
    }
    tree->last = event->time.value;
}

/* ------------------------------------------------------------------ printing */

static void print_lines(const struct array *lines, uint64_t first,
                        const struct report_tree_options *options, FILE *stream)
{
    if (options->fold) {
        folded_lines_print(lines, first, options->short_names, stream);
        return;
    }
    for (size_t i = 0; i < lines->count; i++) {
        struct tree_line line = *(const struct tree_line *)array_at(lines, i);
        line.has_short_name = options->short_names;
        tree_print_line(&line, first, &(struct tree_repetition){.count = 1}, stream);
    }
}

static void print_tree(const struct tree *tree, const struct span_source *source,
                       const struct report_tree_options *options, FILE *stream)
{
    bool printed = false;
    tree_print_head(source->recorded, source->sampled, stream);
    for (size_t i = 0; i < tree->tracks.count; i++) {
        const struct tree_track *track = array_at(&tree->tracks, i);
        if (track->lines.count == 0)
            continue;
        tree_print_thread(&source->tracks[i], !printed, source->sampled, stream);
        print_lines(&track->lines, tree->window.first, options, stream);
        printed = true;
    }
}

static void print_json(const struct tree *tree, const struct span_source *source, size_t max_bytes,
                       FILE *stream)
{
    struct json_report report;
    tree_json_begin(&report, stream, source->sampled, max_bytes);
    for (size_t i = 0; i < tree->tracks.count; i++) {
        const struct array *lines = &((struct tree_track *)array_at(&tree->tracks, i))->lines;
        for (size_t j = 0; j < lines->count; j++)
            tree_json_add(&report, array_at(lines, j), &source->tracks[i], tree->window.first);
    }
    json_report_end(&report);
}

static void free_tree(struct tree *tree)
{
    for (size_t i = 0; i < tree->tracks.count; i++) {
        struct tree_track *track = array_at(&tree->tracks, i);
        array_free(&track->open);
        array_free(&track->lines);
    }
    array_free(&tree->tracks);
    arena_free(&tree->values);
}

static bool read_tree(struct tree *tree, struct report_events *events, struct span_source *source,
                      const struct report_tree_options *options, struct error *error)
{
    *tree = (struct tree){.source = source, .tracks = array_of(sizeof(struct tree_track))};
    if (!trace_window_init(&tree->window, options, error))
        return false;
    report_events_init(events, source);
    struct span_event event;
    while (report_events_next(events, &event))
        read_event(tree, &event);
    return true;
}

static bool finish(struct tree *tree, struct report_events *events, FILE *stream,
                   struct error *error)
{
    struct nanoseconds last = {tree->last};
    free_tree(tree);
    return report_events_finish(events, stream, error) &&
           trace_window_check(&tree->window, last, error);
}

bool report_tree(struct span_source *source, const struct report_tree_options *options,
                 FILE *stream, struct error *error)
{
    struct tree tree;
    struct report_events events;
    if (!read_tree(&tree, &events, source, options, error))
        return false;
    print_tree(&tree, source, options, stream);
    return finish(&tree, &events, stream, error);
}

bool report_tree_json(struct span_source *source, const struct report_tree_options *options,
                      size_t max_bytes, FILE *stream, struct error *error)
{
    struct tree tree;
    struct report_events events;
    if (!read_tree(&tree, &events, source, options, error))
        return false;
    print_json(&tree, source, max_bytes, stream);
    return finish(&tree, &events, stream, error);
}
