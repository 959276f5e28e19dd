#include "output/report/report_table.h"

#include "base/array.h"
#include "base/memory.h"
#include "output/duration.h"
#include "output/mark_kind.h"
#include "output/report/durations.h"
#include "output/report/json_report.h"
#include "output/report/report_counters.h"
#include "output/report/report_events.h"
#include "output/span_words.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static const char NOT_WHOLE[] = "; what was seen counts in total and self, not in min to max";

/* What is known of one function. */
struct function_figures {
    const struct span_function *function; /* NULL: not called so far */
    uint64_t calls;
    uint64_t total, self;   /* ns */
    struct durations whole; /* of the calls seen from beginning to end */
    uint64_t key;           /* what the table is sorted by */
};

struct open_call {
    uint32_t function; /* index */
    bool start_inferred;
    uint64_t start;
    uint64_t callees; /* ns spent in them so far */
};

struct track_state {
    struct array calls;       /* of struct open_call, outermost first */
    struct array open_counts; /* of uint32_t, by function: how many of its calls are open */
};

struct table {
    struct array figures; /* of struct function_figures, by function */
    struct array tracks;  /* of struct track_state */
    uint64_t calls;
    uint64_t gaps, notes;                              /* of the marks */
    uint64_t start_inferred, end_inferred, still_open; /* calls that were not seen whole */
    uint64_t hits;                                     /* of the trigger */
    size_t hit_track_count;
    struct report_counters counters;
    const struct span_hit *longest_hit; /* since the time that was passed; NULL: none passed one */
    const struct span_function *hit;    /* what the last of them is called; NULL: none */
    bool began;
    uint64_t first, last; /* ns: the span of time of the trace */
};

/* ------------------------------------------------------------------ reading */

static void *element_at(struct array *array, size_t index)
{
    while (array->count <= index)
        array_add(array);
    return array_at(array, index);
}

static struct function_figures *figures_of(struct table *table, uint32_t function)
{
    return element_at(&table->figures, function);
}

static struct track_state *track_of(struct table *table, uint32_t track)
{
    while (table->tracks.count <= track) {
        struct track_state *state = array_add(&table->tracks);
        state->calls = array_of(sizeof(struct open_call));
        state->open_counts = array_of(sizeof(uint32_t));
    }
    return array_at(&table->tracks, track);
}

static void enter(struct table *table, const struct span_event *event)
{
    struct track_state *track = track_of(table, event->track);
    uint32_t function = event->function->index;
    struct open_call *call = array_add(&track->calls);
    *call = (struct open_call){
        .function = function,
        .start_inferred = event->flags & SPAN_START_INFERRED,
        .start = event->time.value,
    };
    ++*(uint32_t *)element_at(&track->open_counts, function);
    struct function_figures *figures = figures_of(table, function);
    figures->function = event->function;
    figures->calls++;
    table->calls++;
    table->start_inferred += call->start_inferred;
}

static bool end_was_seen(const struct span_event *event)
{
    return !(event->flags & SPAN_END_INFERRED) && event->end != SPAN_END_GAP;
}

static void leave(struct table *table, const struct span_event *event)
{
    struct track_state *track = track_of(table, event->track);
    if (track->calls.count == 0)
        return;
    struct open_call call = *(struct open_call *)array_at(&track->calls, --track->calls.count);
    uint64_t length = event->time.value - call.start;
    struct function_figures *figures = figures_of(table, call.function);
    figures->self += length - call.callees;
    bool outermost = --*(uint32_t *)array_at(&track->open_counts, call.function) == 0;
    if (outermost)
        figures->total += length;
    if (track->calls.count > 0)
        ((struct open_call *)array_at(&track->calls, track->calls.count - 1))->callees += length;
    if (event->end == SPAN_END_OF_TRACE)
        table->still_open++;
    else if (!end_was_seen(event))
        table->end_inferred++;
    else if (!call.start_inferred)
        durations_add(&figures->whole, length);
}

/* A hit is where its span ends, unless a filter has cut that off. */
static void count_hit(struct table *table, const struct span_event *event)
{
    if (event->kind == SPAN_LEAVE && event->end != SPAN_END_FILTER) {
        table->hits++;
        table->hit = event->function;
    }
    if (event->hit && event->hit->has_passed &&
        (!table->longest_hit ||
         report_hit_length(event->hit) > report_hit_length(table->longest_hit)))
        table->longest_hit = event->hit;
}

static void count_mark(struct table *table, const char *text)
{
    if (text && mark_kind_of(text) == MARK_NOTE)
        table->notes++;
    else
        table->gaps++;
}

static void read_call(struct table *table, const struct span_event *event)
{
    switch (event->kind) {
    case SPAN_ENTER:
        enter(table, event);
        break;
    case SPAN_LEAVE:
        leave(table, event);
        break;
    case SPAN_INSTANT:
        count_mark(table, event->text);
        break;
    case SPAN_COUNTER:
        report_counters_add(&table->counters, event);
        break;
    }
}

static void read_event(struct table *table, const struct span_event *event, bool is_hit)
{
    if (!table->began)
        table->first = event->time.value;
    table->began = true;
    table->last = event->time.value;
    if (is_hit)
        count_hit(table, event);
    else
        read_call(table, event);
}

/* ------------------------------------------------------------------ printing */

/* What the table is sorted by, greatest first. */
static uint64_t key_of(struct function_figures *figures, enum report_sort sort)
{
    switch (sort) {
    case REPORT_SORT_TOTAL:
        return figures->total;
    case REPORT_SORT_CALLS:
        return figures->calls;
    case REPORT_SORT_MEDIAN:
        return durations_quantile(&figures->whole, 0.5);
    case REPORT_SORT_P99:
        return durations_quantile(&figures->whole, 0.99);
    case REPORT_SORT_MAX:
        return figures->whole.max;
    case REPORT_SORT_SELF:
        break;
    }
    return figures->self;
}

/* By key, then by self time, then by name. */
static int by_key(const void *a, const void *b)
{
    const struct function_figures *x = *(struct function_figures *const *)a;
    const struct function_figures *y = *(struct function_figures *const *)b;
    if (x->key != y->key)
        return x->key < y->key ? 1 : -1;
    if (x->self != y->self)
        return x->self < y->self ? 1 : -1;
    return strcmp(x->function->name, y->function->name);
}

/* The functions that were called, in the order of the table. */
static struct array sorted_rows(const struct table *table, enum report_sort sort)
{
    struct array rows = array_of(sizeof(struct function_figures *));
    for (size_t i = 0; i < table->figures.count; i++) {
        struct function_figures *figures = array_at(&table->figures, i);
        if (!figures->function)
            continue;
        figures->key = key_of(figures, sort);
        array_add_all(&rows, &figures, 1);
    }
    if (rows.count > 0)
        qsort(rows.elements, rows.count, rows.element_size, by_key);
    return rows;
}

static double percent(uint64_t part, uint64_t whole)
{
    return whole ? 100.0 * (double)part / (double)whole : 0;
}

/* Self times of the program's functions, and of what is none ("[syscall]"), which is mostly
 * waiting. */
struct self_sums {
    uint64_t program, special;
};

static struct self_sums sum_up(const struct array *rows)
{
    struct self_sums sums = {0};
    for (size_t i = 0; i < rows->count; i++) {
        const struct function_figures *figures = *(struct function_figures **)array_at(rows, i);
        if (figures->function->special)
            sums.special += figures->self;
        else
            sums.program += figures->self;
    }
    return sums;
}

static void print_head(const struct table *table, const struct span_source *source,
                       const struct self_sums *sums, FILE *stream)
{
    char text[DURATION_TEXT_SIZE];
    size_t threads = source->track_count - table->hit_track_count;
    const char *what = source->sampled ? "span" : "call";
    fprintf(stream, "%" PRIu64 " %s%s in %zu thread%s within %s", table->calls, what,
            table->calls == 1 ? "" : "s", threads, threads == 1 ? "" : "s",
            duration_format(text, table->last - table->first));
    fprintf(stream, "; in the program %s", duration_format(text, sums->program));
    if (sums->special)
        fprintf(stream, ", outside of it (rows without self%%) %s",
                duration_format(text, sums->special));
    fputc('\n', stream);
}

static void print_hits(const struct table *table, FILE *stream)
{
    char text[DURATION_TEXT_SIZE];
    if (!table->hit)
        return;
    fprintf(stream, "Note: %s, %" PRIu64 " time%s", table->hit->name, table->hits,
            table->hits == 1 ? "" : "s");
    if (table->longest_hit)
        fprintf(stream, ", %s%s after the beginning that was marked",
                table->hits == 1 ? "" : "at most ",
                duration_format(text, report_hit_length(table->longest_hit)));
    fputs("; -tree shows where.\n", stream);
}

static void print_notes(const struct table *table, bool sampled, const char *recorded, FILE *stream)
{
    if (recorded)
        fprintf(stream, "%s.\n", recorded);
    if (sampled)
        fputs("Note: these are samples, not calls. A span is what samples one after the other have "
              "in common; how often a function was called, and how long a call took, is not known, "
              "and times are as exact as samples are dense.\n",
              stream);
    print_hits(table, stream);
    if (table->gaps)
        fprintf(stream,
                "Note: the trace has %" PRIu64
                " gap%s, where it is not known what happened; -tree shows where.\n",
                table->gaps, table->gaps == 1 ? "" : "s");
    if (table->notes)
        fprintf(stream, "Note: the trace has %" PRIu64 " mark%s of events; -tree shows where.\n",
                table->notes, table->notes == 1 ? "" : "s");
    if (table->start_inferred)
        fprintf(stream, "Note: the beginning of %" PRIu64 " call%s was not seen%s.\n",
                table->start_inferred, table->start_inferred == 1 ? "" : "s", NOT_WHOLE);
    if (table->still_open)
        fprintf(stream, "Note: %" PRIu64 " call%s still open when the trace ends%s.\n",
                table->still_open, table->still_open == 1 ? " is" : "s are", NOT_WHOLE);
    if (table->end_inferred)
        fprintf(stream, "Note: the end of %" PRIu64 " call%s was not seen%s.\n",
                table->end_inferred, table->end_inferred == 1 ? "" : "s", NOT_WHOLE);
    report_counters_print(&table->counters, stream);
}

static void print_quantile(struct durations *whole, double share, FILE *stream)
{
    char text[DURATION_TEXT_SIZE], cell[DURATION_TEXT_SIZE + 1];
    uint64_t value = durations_quantile(whole, share);
    snprintf(cell, sizeof cell, "%s%s", durations_is_approximate(whole, value) ? "~" : "",
             duration_format(text, value));
    fprintf(stream, "%10s ", cell);
}

/* `known`: the spans are calls, and so have lengths of their own. */
static void print_quantiles(struct durations *whole, bool known, FILE *stream)
{
    if (whole->count == 0 || !known) {
        fprintf(stream, "%10s %10s %10s %10s  ", "-", "-", "-", "-");
        return;
    }
    char text[DURATION_TEXT_SIZE];
    fprintf(stream, "%10s ", duration_format(text, whole->min));
    print_quantile(whole, 0.5, stream);
    print_quantile(whole, 0.99, stream);
    fprintf(stream, "%10s  ", duration_format(text, whole->max));
}

static void print_row(struct function_figures *figures, uint64_t program_self, bool sampled,
                      FILE *stream)
{
    char text[DURATION_TEXT_SIZE];
    fprintf(stream, "%10" PRIu64 " %10s ", figures->calls, duration_format(text, figures->total));
    fprintf(stream, "%10s ", duration_format(text, figures->self));
    if (figures->function->special)
        fprintf(stream, "%6s ", "-");
    else
        fprintf(stream, "%5.1f%% ", percent(figures->self, program_self));
    print_quantiles(&figures->whole, !sampled, stream);
    fprintf(stream, "%s%s\n", figures->function->name, span_inlined_suffix(figures->function));
}

static void print_table(const struct table *table, const struct span_source *source,
                        const struct report_table_options *options, FILE *stream)
{
    struct array rows = sorted_rows(table, options->sort);
    struct self_sums sums = sum_up(&rows);
    print_head(table, source, &sums, stream);
    print_notes(table, source->sampled, source->recorded, stream);
    size_t shown = options->top && options->top < rows.count ? options->top : rows.count;
    if (shown)
        fprintf(stream, "\n%10s %10s %10s %6s %10s %10s %10s %10s  %s\n",
                source->sampled ? "spans" : "calls", "total", "self", "self%", "min", "median",
                "p99", "max", "function");
    for (size_t i = 0; i < shown; i++)
        print_row(*(struct function_figures **)array_at(&rows, i), sums.program, source->sampled,
                  stream);
    if (shown < rows.count)
        fprintf(stream, "... and %zu more functions\n", rows.count - shown);
    array_free(&rows);
}

/* ------------------------------------------------------------------ JSON */

static void begin_json(struct json_report *report, const struct table *table,
                       const struct span_source *source, const struct self_sums *sums,
                       size_t max_bytes, FILE *stream)
{
    char *head =
        memory_format("\"report\": \"functions\", \"sampled\": %s, \"%s\": %" PRIu64
                      ", \"threads\": %zu, \"duration\": %" PRIu64 ", \"program_self\": %" PRIu64
                      ", \"outside_self\": %" PRIu64 ", \"hits\": %" PRIu64 ", \"gaps\": %" PRIu64
                      ", \"start_not_seen\": %" PRIu64 ", \"end_not_seen\": %" PRIu64
                      ", \"still_open\": %" PRIu64,
                      source->sampled ? "true" : "false", json_name_of_calls(source->sampled),
                      table->calls, source->track_count - table->hit_track_count,
                      table->last - table->first, sums->program, sums->special, table->hits,
                      table->gaps, table->start_inferred, table->end_inferred, table->still_open);
    json_report_begin(report, stream, head, "functions", max_bytes);
    free(head);
}

/* Of calls seen whole; of samples there are none. */
static char *json_of_whole(struct durations *whole, bool sampled)
{
    if (whole->count == 0 || sampled)
        return memory_copy_string("\"whole\": 0");
    uint64_t median = durations_quantile(whole, 0.5), p99 = durations_quantile(whole, 0.99);
    bool is_approximate =
        durations_is_approximate(whole, median) || durations_is_approximate(whole, p99);
    return memory_format("\"whole\": %" PRIu64 ", \"min\": %" PRIu64 ", \"median\": %" PRIu64
                         ", \"p99\": %" PRIu64 ", \"max\": %" PRIu64 ", \"approximate\": %s",
                         whole->count, whole->min, median, p99, whole->max,
                         is_approximate ? "true" : "false");
}

static char *json_of_row(struct function_figures *figures, bool sampled)
{
    const struct span_function *function = figures->function;
    char *name = json_member("function", function->name);
    char *file = json_member("file", function->file);
    char *whole = json_of_whole(&figures->whole, sampled);
    char *item =
        memory_format("{%s, \"%s\": %" PRIu64 ", \"self\": %" PRIu64 ", \"total\": %" PRIu64
                      ", %s, \"code\": \"%s\", %s, \"line\": %" PRIu32 "}",
                      name, json_name_of_calls(sampled), figures->calls, figures->self,
                      figures->total, whole, span_origin_word(function), file, function->line);
    free(name);
    free(file);
    free(whole);
    return item;
}

static void print_json(const struct table *table, const struct span_source *source,
                       const struct report_table_options *options, size_t max_bytes, FILE *stream)
{
    struct array rows = sorted_rows(table, options->sort);
    struct self_sums sums = sum_up(&rows);
    size_t shown = options->top && options->top < rows.count ? options->top : rows.count;
    struct json_report report;
    begin_json(&report, table, source, &sums, max_bytes, stream);
    for (size_t i = 0; i < shown; i++)
        json_report_add(
            &report, json_of_row(*(struct function_figures **)array_at(&rows, i), source->sampled),
            shown - i);
    report.omitted = rows.count - shown;
    json_report_end(&report);
    array_free(&rows);
}

static void free_table(struct table *table)
{
    for (size_t i = 0; i < table->figures.count; i++)
        durations_free(&figures_of(table, (uint32_t)i)->whole);
    for (size_t i = 0; i < table->tracks.count; i++) {
        struct track_state *track = track_of(table, (uint32_t)i);
        array_free(&track->calls);
        array_free(&track->open_counts);
    }
    array_free(&table->figures);
    array_free(&table->tracks);
    report_counters_free(&table->counters);
}

static struct table read_table(struct report_events *events, struct span_source *source)
{
    struct table table = {
        .figures = array_of(sizeof(struct function_figures)),
        .tracks = array_of(sizeof(struct track_state)),
    };
    report_events_init(events, source);
    struct span_event event;
    while (report_events_next(events, &event))
        read_event(&table, &event, report_events_is_hit(events, &event));
    table.hit_track_count = events->hit_track_count;
    return table;
}

bool report_table(struct span_source *source, const struct report_table_options *options,
                  FILE *stream, struct error *error)
{
    struct report_events events;
    struct table table = read_table(&events, source);
    print_table(&table, source, options, stream);
    free_table(&table);
    return report_events_finish(&events, stream, error);
}

bool report_table_json(struct span_source *source, const struct report_table_options *options,
                       size_t max_bytes, FILE *stream, struct error *error)
{
    struct report_events events;
    struct table table = read_table(&events, source);
    print_json(&table, source, options, max_bytes, stream);
    free_table(&table);
    return report_events_finish(&events, stream, error);
}
