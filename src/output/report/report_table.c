#include "output/report/report_table.h"

#include "base/array.h"
#include "output/mark_kind.h"
#include "output/report/durations.h"
#include "output/report/report_counters.h"
#include "output/report/report_events.h"
#include "output/report/report_rows.h"
#include "stack/spans/off_cpu_spans.h"

/* What is known of one function. */
struct function_figures {
    const struct span_function *function; /* NULL: not called so far */
    uint64_t calls;
    uint64_t total, self;   /* ns */
    uint64_t off_cpu;       /* ns of `total` */
    struct durations whole; /* of the calls seen from beginning to end */
    uint64_t longest;       /* the number of the longest of those among all of its calls */
};

struct open_call {
    uint32_t function; /* index */
    bool start_inferred;
    uint64_t number; /* among the function's calls, from 1 */
    uint64_t start;
    uint64_t callees; /* ns spent in them so far */
    bool is_off_cpu;
    uint64_t off_cpu; /* ns in which the thread was not running, so far */
};

struct track_state {
    struct array calls;       /* of struct open_call, outermost first */
    struct array open_counts; /* of uint32_t, by function: how many of its calls are open */
};

struct table {
    struct array figures;                              /* of struct function_figures, by function */
    struct array tracks;                               /* of struct track_state */
    uint64_t gaps, notes;                              /* of the marks */
    uint64_t start_inferred, end_inferred, still_open; /* calls that were not seen whole */
    uint64_t hits;                                     /* of the trigger */
    bool has_off_cpu;
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
        .is_off_cpu = span_is_off_cpu(event->function),
    };
    table->has_off_cpu |= call->is_off_cpu;
    ++*(uint32_t *)element_at(&track->open_counts, function);
    struct function_figures *figures = figures_of(table, function);
    figures->function = event->function;
    call->number = ++figures->calls;
    table->start_inferred += call->start_inferred;
}

static bool end_was_seen(const struct span_event *event)
{
    return !(event->flags & SPAN_END_INFERRED) && event->end != SPAN_END_GAP;
}

static void count_whole(struct function_figures *figures, uint64_t length, uint64_t number)
{
    bool is_longer = figures->whole.count == 0 || length > figures->whole.max;
    if (is_longer || (length == figures->whole.max && number < figures->longest))
        figures->longest = number;
    durations_add(&figures->whole, length);
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
    uint64_t off_cpu = call.is_off_cpu ? length : call.off_cpu;
    if (outermost) {
        figures->total += length;
        figures->off_cpu += off_cpu;
    }
    if (track->calls.count > 0) {
        struct open_call *caller = array_at(&track->calls, track->calls.count - 1);
        caller->callees += length;
        caller->off_cpu += off_cpu;
    }
    if (event->end == SPAN_END_OF_TRACE)
        table->still_open++;
    else if (!end_was_seen(event))
        table->end_inferred++;
    else if (!call.start_inferred)
        count_whole(figures, length, call.number);
}

/* A hit is where its span ends, unless a filter has cut that off. */
static void count_hit(struct table *table, const struct span_event *event)
{
    if (event->kind == SPAN_LEAVE && event->end != SPAN_END_FILTER) {
        table->hits++;
        table->hit = event->function;
    }
    if (event->hit && event->hit->has_passed &&
        (!table->longest_hit || span_hit_length(event->hit) > span_hit_length(table->longest_hit)))
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
        report_counters_add(&table->counters, event->text, 1, event->value, event->value);
        break;
    case SPAN_MOVE:
        break; /* only for those who ask for it */
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

/* ------------------------------------------------------------------ what is printed */

static struct report_row row_of(struct function_figures *figures)
{
    struct durations *whole = &figures->whole;
    uint64_t median = durations_quantile(whole, 0.5), p99 = durations_quantile(whole, 0.99);
    return (struct report_row){
        .function = figures->function,
        .calls = figures->calls,
        .total = figures->total,
        .self = figures->self,
        .off_cpu = figures->off_cpu,
        .whole = whole->count,
        .min = whole->min,
        .median = median,
        .p99 = p99,
        .max = whole->max,
        .median_is_approximate = durations_is_approximate(whole, median),
        .p99_is_approximate = durations_is_approximate(whole, p99),
        .longest = figures->longest,
    };
}

/* Of the functions that were called. */
static struct array rows_of(const struct table *table, enum report_sort sort)
{
    struct array rows = array_of(sizeof(struct report_row));
    for (size_t i = 0; i < table->figures.count; i++) {
        struct function_figures *figures = array_at(&table->figures, i);
        if (figures->function)
            *(struct report_row *)array_add(&rows) = row_of(figures);
    }
    report_rows_sort(&rows, sort);
    return rows;
}

static struct report_facts facts_of(const struct table *table, const struct span_source *source)
{
    return (struct report_facts){
        .recorded = source->recorded,
        .sampled = source->sampled,
        .threads = source->track_count - table->hit_track_count,
        .duration = table->last - table->first,
        .has_off_cpu = table->has_off_cpu,
        .gaps = table->gaps,
        .notes = table->notes,
        .start_inferred = table->start_inferred,
        .end_inferred = table->end_inferred,
        .still_open = table->still_open,
        .hit = table->hit ? table->hit->name : NULL,
        .hits = table->hits,
        .has_longest_hit = table->longest_hit != NULL,
        .longest_hit = table->longest_hit ? span_hit_length(table->longest_hit) : 0,
        .counters = &table->counters,
    };
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
    struct report_facts facts = facts_of(&table, source);
    struct array rows = rows_of(&table, options->sort);
    report_rows_print(&facts, &rows, options->top, stream);
    array_free(&rows);
    free_table(&table);
    return report_events_finish(&events, stream, error);
}

bool report_table_json(struct span_source *source, const struct report_table_options *options,
                       size_t max_bytes, FILE *stream, struct error *error)
{
    struct report_events events;
    struct table table = read_table(&events, source);
    struct report_facts facts = facts_of(&table, source);
    struct array rows = rows_of(&table, options->sort);
    report_rows_print_json(&facts, &rows, options->top, max_bytes, stream);
    array_free(&rows);
    free_table(&table);
    return report_events_finish(&events, stream, error);
}
