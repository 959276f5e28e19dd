/* One line per span, in the order in which they end: for spreadsheets, pandas, SQL.
 *
 * Columns are named in the first line. Times are whole nanoseconds since time 0 of the trace.
 *
 *   kind      call; samples (what samples one after the other have in common: no call); special (no function of the program: [syscall], a gap); hit (of the trigger);
 *             instant and counter, which have no duration
 *   depth     0 outermost; of an instant that of the next span
 *   self_ns   duration without that of the spans inside
 *   function  name of the function, of the instant or of the counter
 *   ended     return, tail call, unwound, gap, end of trace, exec, filter, switch
 *   seen      yes; or what of its beginning and end was inferred; across gap
 *   value     of a counter; of a hit the argument that the program passed
 *   arguments, result  of a call of which they were recorded: size=4096, name="x"
 *
 * Format: RFC 4180, but with lines ended as elsewhere on Unix. A text that begins with =, +, - or @ has
 * an apostrophe in front: spreadsheets would run it as a formula.
 */
#include "base/array.h"
#include "base/memory.h"
#include "output/csv_quoted.h"
#include "output/export/export.h"
#include "output/export/export_events.h"
#include "output/span_words.h"
#include "output/text_writer.h"

#include <inttypes.h>
#include <stdlib.h>

static const char HEAD[] =
    "kind,process,pid,thread,tid,depth,start_ns,duration_ns,self_ns,"
    "function,symbol,file,line,address,code,ended,seen,value,arguments,result\n";

struct open_span {
    const struct span_hit *hit; /* or NULL */
    uint64_t start, address;
    uint64_t inside; /* ns of the spans in it that have ended */
    uint8_t flags;
};

struct csv {
    struct block_writer *out;
    const struct span_source *source;
    struct array functions; /* of char *, by index: its columns; NULL: not made yet. Owned */
    char **places;          /* by track: its columns; owned */
    struct array *open;     /* by track, of struct open_span, outermost first */
};

static void make_places(struct csv *csv)
{
    for (size_t i = 0; i < csv->source->track_count; i++) {
        const struct span_track *track = &csv->source->tracks[i];
        char *process = csv_quoted(track->process_name);
        char *thread = csv_quoted(track->thread_name);
        csv->places[i] = memory_format(",%s,%" PRIu32 ",%s,%" PRIu32 ",", process, track->pid,
                                       thread, track->tid);
        csv->open[i] = array_of(sizeof(struct open_span));
        free(process);
        free(thread);
    }
}

static char *columns_of(const struct span_function *function)
{
    char *name = csv_quoted(function->name);
    char *symbol = csv_quoted(function->symbol ? function->symbol : "");
    char *file = csv_quoted(function->file ? function->file : "");
    char *columns =
        function->line ? memory_format(",%s,%s,%s,%" PRIu32 ",", name, symbol, file, function->line)
                       : memory_format(",%s,%s,%s,,", name, symbol, file);
    free(name);
    free(symbol);
    free(file);
    return columns;
}

static void put_function(struct csv *csv, const struct span_function *function)
{
    while (csv->functions.count <= function->index)
        array_add(&csv->functions);
    char **columns = array_at(&csv->functions, function->index);
    if (!*columns)
        *columns = columns_of(function);
    text_put(csv->out, *columns);
}

static void put_beginning(struct csv *csv, const char *kind, uint32_t track, uint64_t start)
{
    text_put(csv->out, kind);
    text_put(csv->out, csv->places[track]);
    text_put_number(csv->out, csv->open[track].count);
    text_put(csv->out, ",");
    text_put_number(csv->out, start);
    text_put(csv->out, ",");
}

static void put_seen(struct csv *csv, uint8_t flags)
{
    static const struct {
        enum span_flag flag;
        const char *words;
    } unseen[] = {
        {SPAN_START_INFERRED, "start inferred"},
        {SPAN_END_INFERRED, "end inferred"},
        {SPAN_ACROSS_GAP, "across gap"},
    };
    bool any = false;
    for (size_t i = 0; i < sizeof unseen / sizeof *unseen; i++) {
        if (!(flags & unseen[i].flag))
            continue;
        text_put(csv->out, any ? "; " : "");
        text_put(csv->out, unseen[i].words);
        any = true;
    }
    text_put(csv->out, any ? "," : "yes,");
}

static const char *kind_of(const struct csv *csv, const struct open_span *span,
                           const struct span_function *function)
{
    if (span->hit || function->special)
        return span->hit ? "hit" : "special";
    return csv->source->sampled ? "samples" : "call";
}

static void put_quoted(struct csv *csv, const char *text)
{
    char *quoted = csv_quoted(text);
    text_put(csv->out, quoted);
    free(quoted);
}

static void put_values(struct csv *csv, const struct named_values *values)
{
    text_put(csv->out, ",");
    if (values) {
        struct arena memory = {0};
        put_quoted(csv, named_values_join_arguments(&memory, values));
        arena_free(&memory);
    }
    text_put(csv->out, ",");
    if (values && values->has_result)
        put_quoted(csv, values->values[values->count - 1].text);
}

static void leave(struct csv *csv, const struct span_event *event)
{
    struct array *open = &csv->open[event->track];
    if (open->count == 0)
        return;
    const struct open_span *span = array_at(open, --open->count);
    uint64_t duration = event->time.value - span->start;
    if (open->count > 0)
        ((struct open_span *)array_at(open, open->count - 1))->inside += duration;
    put_beginning(csv, kind_of(csv, span, event->function), event->track, span->start);
    text_put_number(csv->out, duration);
    text_put(csv->out, ",");
    text_put_number(csv->out, duration - span->inside);
    put_function(csv, event->function);
    uint64_t address = span->hit ? span->hit->address : span->address;
    if (address)
        text_put_hexadecimal(csv->out, address);
    text_put(csv->out, ",");
    text_put(csv->out, span_origin_word(event->function));
    text_put(csv->out, ",");
    text_put(csv->out, span_end_word(event->end));
    text_put(csv->out, ",");
    put_seen(csv, span->flags | event->flags);
    if (span->hit && span->hit->has_argument)
        text_put_signed(csv->out, span->hit->argument);
    put_values(csv, event->values);
    text_put(csv->out, "\n");
}

/* Of an event without length. */
static void put_moment(struct csv *csv, const char *kind, const struct span_event *event)
{
    char *text = csv_quoted(event->text);
    put_beginning(csv, kind, event->track, event->time.value);
    text_put(csv->out, ",,");
    text_put(csv->out, text);
    text_put(csv->out, ",,,,,,,,");
    if (event->kind == SPAN_COUNTER)
        text_put_double(csv->out, event->value);
    text_put(csv->out, ",,\n");
    free(text);
}

static void put_event(struct csv *csv, const struct span_event *event)
{
    switch (event->kind) {
    case SPAN_ENTER:
        *(struct open_span *)array_add(&csv->open[event->track]) = (struct open_span){
            .hit = event->hit,
            .start = event->time.value,
            .address = event->address,
            .flags = event->flags,
        };
        break;
    case SPAN_LEAVE:
        leave(csv, event);
        break;
    case SPAN_INSTANT:
        put_moment(csv, "instant", event);
        break;
    case SPAN_COUNTER:
        put_moment(csv, "counter", event);
        break;
    case SPAN_MOVE:
        break; /* only for those who ask for it */
    }
}

static void free_csv(struct csv *csv)
{
    for (size_t i = 0; i < csv->functions.count; i++)
        free(*(char **)array_at(&csv->functions, i));
    array_free(&csv->functions);
    for (size_t i = 0; i < csv->source->track_count; i++) {
        free(csv->places[i]);
        array_free(&csv->open[i]);
    }
    free(csv->places);
    free(csv->open);
}

static bool write_csv(const struct export_trace *trace, struct block_writer *out,
                      struct export_summary *summary, struct error *error)
{
    struct span_source *source = trace->source;
    size_t tracks = source->track_count + 1;
    struct csv csv = {
        .out = out,
        .source = source,
        .functions = array_of(sizeof(char *)),
        .places = memory_allocate_zeroed(tracks * sizeof(char *)),
        .open = memory_allocate_zeroed(tracks * sizeof(struct array)),
    };
    struct export_events events;
    export_events_init(&events, source, out, summary);
    make_places(&csv);
    text_put(out, HEAD);
    const struct span_event *event;
    while ((event = export_events_next(&events)))
        put_event(&csv, event);
    free_csv(&csv);
    return export_events_finish(&events, error);
}

const struct export_format export_csv = {
    .name = "csv",
    .suffix = ".csv",
    .summary = "one line per span, for spreadsheets and databases",
    .manual = "One line per span in the order in which they end, and one per instant "
              "and counter's value. The first line names the columns; times are "
              "nanoseconds; `self_ns` is the duration without that of the calls inside. A name "
              "that a spreadsheet would run as a formula has an apostrophe in front.",
    .write = write_csv,
};
