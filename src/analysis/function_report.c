#include "analysis/function_report.h"

#include "analysis/function_choice.h"
#include "base/memory.h"
#include "index/call_ordinal.h"
#include "index/function_quantiles.h"
#include "index/marks.h"
#include "output/duration.h"
#include "output/report/json_report.h"
#include "output/report/report_rows.h"
#include "output/span_words.h"

#include <inttypes.h>
#include <stdlib.h>

enum { LONGEST_STANDARD = 10 };

/* ---- the table ---- */

struct function_report {
    const struct trace_index *index;
    struct index_range range;   /* whose time is added up */
    struct index_range moments; /* in which hits and values of counters lie */
    struct index_tracks tracks;
    struct report_counters counters;
    struct array found;                   /* of struct function_row */
    struct function_quantiles *quantiles; /* of `found`; owned */
    uint64_t *longest;                    /* numbers of calls, of `found`; owned */
    struct span_function *functions;      /* of `found`; owned */
};

static bool find_longest(struct function_report *report, struct error *error)
{
    size_t count = report->found.count;
    const struct call_place **calls = memory_allocate_zeroed((count + 1) * sizeof *calls);
    for (size_t i = 0; i < count; i++) {
        const struct function_row *row = array_at(&report->found, i);
        if (row->whole > 0)
            calls[i] = &row->longest;
    }
    bool ok = index_call_ordinals(report->index, calls, count, report->longest, error);
    free(calls);
    return ok;
}

static bool find_figures(struct function_report *report, struct error *error)
{
    report->found = array_of(sizeof(struct function_row));
    if (!index_function_table(report->index, report->tracks, report->range, &report->found, error))
        return false;
    size_t count = report->found.count + 1;
    report->quantiles = memory_allocate_zeroed(count * sizeof *report->quantiles);
    report->longest = memory_allocate_zeroed(count * sizeof *report->longest);
    report->functions = memory_allocate_zeroed(count * sizeof *report->functions);
    const struct quantiles_request request = {
        .wanted = 1 << QUANTILE_MEDIAN | 1 << QUANTILE_P99,
    };
    return index_function_quantiles(report->index, report->tracks, report->range, request,
                                    &report->found, report->quantiles, error) &&
           find_longest(report, error);
}

static struct span_function function_of(const struct trace_index *index, uint32_t group)
{
    static const enum span_origin origins[] = {
        [INDEX_OWN] = SPAN_OWN,       [INDEX_LIBRARY] = SPAN_LIBRARY,
        [INDEX_KERNEL] = SPAN_KERNEL, [INDEX_INLINED] = SPAN_INLINED,
        [INDEX_SPECIAL] = SPAN_OWN,
    };
    const struct index_function function = trace_index_function(index, group);
    return (struct span_function){
        .name = function.name,
        .file = function.file,
        .line = function.line,
        .special = function.colour == INDEX_SPECIAL,
        .origin = origins[function.colour],
    };
}

static struct array rows_of(struct function_report *report)
{
    struct array rows = array_of(sizeof(struct report_row));
    for (size_t i = 0; i < report->found.count; i++) {
        const struct function_row *found = array_at(&report->found, i);
        report->functions[i] = function_of(report->index, found->group);
        *(struct report_row *)array_add(&rows) = (struct report_row){
            .function = &report->functions[i],
            .calls = found->calls,
            .total = found->total,
            .self = found->self,
            .off_cpu = found->off_cpu,
            .whole = found->whole,
            .min = found->min,
            .median = report->quantiles[i].values[QUANTILE_MEDIAN],
            .p99 = report->quantiles[i].values[QUANTILE_P99],
            .max = found->max,
            .longest = report->longest[i],
        };
    }
    return rows;
}

static bool count_marks(const struct function_report *report, struct report_facts *facts,
                        struct error *error)
{
    struct array marks = array_of(sizeof(struct index_mark));
    bool more;
    bool ok = index_marks(report->index, report->range, SIZE_MAX, &marks, &more, error);
    for (size_t i = 0; i < marks.count; i++) {
        const struct index_mark *mark = array_at(&marks, i);
        if (!index_tracks_contain(report->tracks, mark->track))
            continue;
        *(mark->kind == MARK_NOTE ? &facts->notes : &facts->gaps) += 1;
    }
    array_free(&marks);
    return ok;
}

/* Hits in the threads that are shown, and counters, which belong to no thread, where all are. */
static void find_hits(const struct function_report *report, struct report_facts *facts)
{
    struct array hits = array_of(sizeof(struct index_hit));
    index_hits_within(report->index, report->moments, &hits);
    for (size_t i = 0; i < hits.count; i++) {
        const struct index_hit *hit = array_at(&hits, i);
        if (!index_tracks_contain(report->tracks, hit->thread))
            continue;
        facts->hit = hit->name;
        facts->hits++;
        if (hit->has_passed && hit->passed >= facts->longest_hit) {
            facts->has_longest_hit = true;
            facts->longest_hit = hit->passed;
        }
    }
    array_free(&hits);
}

static void find_counters(struct function_report *report)
{
    uint32_t count = report->tracks.count ? 0 : trace_index_facts(report->index)->counters;
    for (uint32_t i = 0; i < count; i++) {
        struct counter_values values = index_counter_values(report->index, i, report->moments);
        report_counters_add(&report->counters, trace_index_counter(report->index, i).name,
                            values.count, values.min, values.max);
    }
}

/* The tracks with calls. */
static size_t count_threads(const struct function_report *report)
{
    uint32_t tracks = trace_index_facts(report->index)->tracks;
    size_t threads = 0;
    for (uint32_t i = 0; i < tracks; i++)
        threads += !trace_index_track(report->index, i).is_hits;
    return report->tracks.count ? report->tracks.count : threads;
}

static bool find_facts(struct function_report *report, struct report_facts *facts,
                       struct error *error)
{
    const struct index_facts *known = trace_index_facts(report->index);
    uint64_t end = report->range.to < known->duration ? report->range.to : known->duration;
    *facts = (struct report_facts){
        .recorded = known->recorded,
        .sampled = known->sampled,
        .threads = count_threads(report),
        .duration = end - report->range.from,
        .counters = &report->counters,
    };
    find_hits(report, facts);
    find_counters(report);
    for (size_t i = 0; i < report->found.count; i++) {
        const struct function_row *row = array_at(&report->found, i);
        facts->has_off_cpu |= row->off_cpu > 0;
        facts->start_inferred += row->start_not_seen;
        facts->end_inferred += row->end_not_seen;
        facts->still_open += row->still_open;
        facts->beyond += row->beyond_range;
    }
    return count_marks(report, facts, error);
}

bool function_report_print(const struct trace_index *index, const struct trace_moments *moments,
                           const struct report_table_options *options, struct report_form_json json,
                           FILE *stream, struct error *error)
{
    struct function_report report = {
        .index = index,
        .range = moments_time(index, moments),
        .moments = moments_range(moments),
        .tracks = moments->tracks,
    };
    struct report_facts facts;
    bool ok = find_figures(&report, error) && find_facts(&report, &facts, error);
    if (ok) {
        struct array rows = rows_of(&report);
        report_rows_sort(&rows, options->sort);
        if (json.is_json)
            report_rows_print_json(&facts, &rows, options->top, json.max_bytes, stream);
        else
            report_rows_print(&facts, &rows, options->top, stream);
        array_free(&rows);
    }
    array_free(&report.found);
    report_counters_free(&report.counters);
    free(report.quantiles);
    free(report.longest);
    free(report.functions);
    return ok && report_end(index, stream, error);
}

/* ---- the longest calls ---- */

struct longest_calls {
    const struct trace_index *index;
    const char *function;
    struct call_statistics statistics;
    uint64_t *numbers; /* of the slowest; owned */
};

static bool find_numbers(struct longest_calls *longest, uint32_t group, struct error *error)
{
    const struct array *calls = &longest->statistics.slowest;
    bool ok = true;
    longest->numbers = memory_allocate_zeroed((calls->count + 1) * sizeof *longest->numbers);
    for (size_t i = 0; ok && i < calls->count; i++)
        ok = index_call_ordinal(longest->index, (struct index_tracks){0}, group, array_at(calls, i),
                                &longest->numbers[i], error);
    return ok;
}

static const char *cut_in_words(const struct index_span *span)
{
    return !index_is_cut(span)                 ? ""
           : span->flags & SPAN_START_INFERRED ? "  [at least: its beginning was not seen]"
                                               : "  [at least: its end was not seen]";
}

static void print_longest(const struct longest_calls *longest, FILE *stream)
{
    const struct call_statistics *statistics = &longest->statistics;
    char text[DURATION_TEXT_SIZE];
    fprintf(stream, "The longest of %" PRIu64 " call%s of %s", statistics->calls,
            statistics->calls == 1 ? "" : "s", longest->function);
    if (statistics->whole > 0)
        fprintf(stream, ", whose median is %s", duration_format(text, statistics->median));
    fprintf(stream, "\n\n%10s %18s  %s\n", "duration", "offset", "call");
    for (size_t i = 0; i < statistics->slowest.count; i++) {
        const struct call_place *call = array_at(&statistics->slowest, i);
        const struct index_track track = trace_index_track(longest->index, call->track);
        fprintf(stream, "%10s ", duration_format_call(text, call->span.end - call->span.start));
        fprintf(stream, "%18s  %s#%" PRIu64 " in thread %s (tid %" PRIu32 ")%s\n",
                duration_format_exact(text, call->span.start), longest->function,
                longest->numbers[i], track.thread, track.tid, cut_in_words(&call->span));
    }
}

static char *json_of_call(const struct longest_calls *longest, size_t number)
{
    const struct call_place *call = array_at(&longest->statistics.slowest, number);
    const struct index_track track = trace_index_track(longest->index, call->track);
    char *thread = json_member("thread", track.thread);
    char *item = memory_format(
        "{\"call\": %" PRIu64 ", \"start\": %" PRIu64 ", \"duration\": %" PRIu64
        ", \"depth\": %" PRIu32 ", \"whole\": %s, \"end_reason\": \"%s\", %s, \"tid\": %" PRIu32
        ", \"pid\": %" PRIu32 "}",
        longest->numbers[number], call->span.start, call->span.end - call->span.start,
        call->span.depth, index_is_cut(&call->span) ? "false" : "true",
        span_end_word((enum span_end)call->span.ending), thread, track.tid, track.pid);
    free(thread);
    return item;
}

static void print_longest_json(const struct longest_calls *longest, size_t max_bytes, FILE *stream)
{
    const struct call_statistics *statistics = &longest->statistics;
    struct json_report report;
    char *name = json_member("function", longest->function);
    char *head = memory_format(
        "\"report\": \"longest\", %s, \"calls\": %" PRIu64 ", \"whole\": %" PRIu64
        ", \"median\": %" PRIu64 ", \"p99\": %" PRIu64,
        name, statistics->calls, statistics->whole, statistics->median, statistics->p99);
    json_report_begin(&report, stream, head, "longest", max_bytes);
    free(name);
    free(head);
    for (size_t i = 0; i < statistics->slowest.count; i++)
        json_report_add(&report, json_of_call(longest, i), statistics->slowest.count - i);
    json_report_end(&report);
}

bool longest_calls_print(const struct trace_index *index, const char *function,
                         const struct trace_moments *moments,
                         const struct report_table_options *options, struct report_form_json json,
                         FILE *stream, struct error *error)
{
    struct function_choice choice;
    if (trace_index_facts(index)->sampled)
        return error_set(error, ERROR_USAGE,
                         "-longest lists calls, but the trace holds samples, which have none");
    if (!function_choose(index, function, &choice, error))
        return false;
    struct longest_calls longest = {.index = index,
                                    .function = trace_index_function(index, choice.group).name};
    const struct calls_request request = {
        .tracks = moments->tracks,
        .range = moments_time(index, moments),
        .group = choice.group,
        .slowest = options->top ? options->top : LONGEST_STANDARD,
    };
    bool ok = index_calls(index, &request, &longest.statistics, error) &&
              find_numbers(&longest, choice.group, error);
    if (ok && json.is_json)
        print_longest_json(&longest, json.max_bytes, stream);
    else if (ok)
        print_longest(&longest, stream);
    call_statistics_free(&longest.statistics);
    free(longest.numbers);
    return ok && report_end(index, stream, error);
}
