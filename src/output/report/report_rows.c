#include "output/report/report_rows.h"

#include "base/memory.h"
#include "output/duration.h"
#include "output/report/json_report.h"
#include "output/span_words.h"
#include "stack/spans/off_cpu_spans.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static const char NOT_WHOLE[] = "; what was seen counts in total and self, not in min to max";

/* ---- order ---- */

static uint64_t key_of(const struct report_row *row, enum report_sort sort)
{
    switch (sort) {
    case REPORT_SORT_ON_CPU:
        return row->total - row->off_cpu;
    case REPORT_SORT_TOTAL:
        return row->total;
    case REPORT_SORT_CALLS:
        return row->calls;
    case REPORT_SORT_MEDIAN:
        return row->median;
    case REPORT_SORT_P99:
        return row->p99;
    case REPORT_SORT_MAX:
        return row->max;
    case REPORT_SORT_SELF:
        break;
    }
    return span_is_off_cpu(row->function) ? 0 : row->self;
}

static int by_key(const void *a, const void *b)
{
    const struct report_row *x = a, *y = b;
    if (x->key != y->key)
        return x->key < y->key ? 1 : -1;
    if (x->self != y->self)
        return x->self < y->self ? 1 : -1;
    return strcmp(x->function->name, y->function->name);
}

void report_rows_sort(struct array *rows, enum report_sort sort)
{
    for (size_t i = 0; i < rows->count; i++) {
        struct report_row *row = array_at(rows, i);
        row->key = key_of(row, sort);
    }
    if (rows->count > 0)
        qsort(rows->elements, rows->count, rows->element_size, by_key);
}

static double percent(uint64_t part, uint64_t whole)
{
    return whole ? 100.0 * (double)part / (double)whole : 0;
}

/* Self times of the program's functions, of what is none ("[syscall]"), which is mostly waiting where it
 * is not known when threads were not running, and of that, which is no call. */
struct self_sums {
    uint64_t program, special, off_cpu;
    uint64_t calls;
};

static uint64_t *sum_of(struct self_sums *sums, const struct span_function *function)
{
    if (span_is_off_cpu(function))
        return &sums->off_cpu;
    return function->special ? &sums->special : &sums->program;
}

static struct self_sums sum_up(const struct array *rows)
{
    struct self_sums sums = {0};
    for (size_t i = 0; i < rows->count; i++) {
        const struct report_row *row = array_at(rows, i);
        *sum_of(&sums, row->function) += row->self;
        sums.calls += span_is_off_cpu(row->function) ? 0 : row->calls;
    }
    return sums;
}

static size_t shown_of(const struct array *rows, size_t top)
{
    return top && top < rows->count ? top : rows->count;
}

/* ---- text ---- */

static void print_head(const struct report_facts *facts, const struct self_sums *sums, FILE *stream)
{
    char text[DURATION_TEXT_SIZE];
    fprintf(stream, "%" PRIu64 " %s%s in %zu thread%s within %s", sums->calls,
            facts->sampled ? "span" : "call", sums->calls == 1 ? "" : "s", facts->threads,
            facts->threads == 1 ? "" : "s", duration_format(text, facts->duration));
    fprintf(stream, "; in the program %s", duration_format(text, sums->program));
    if (sums->special)
        fprintf(stream, ", outside of it (rows without self%%) %s",
                duration_format(text, sums->special));
    if (sums->off_cpu)
        fprintf(stream, ", not running %s", duration_format(text, sums->off_cpu));
    fputc('\n', stream);
}

static void print_hits(const struct report_facts *facts, FILE *stream)
{
    char text[DURATION_TEXT_SIZE];
    if (!facts->hit)
        return;
    fprintf(stream, "Note: %s, %" PRIu64 " time%s", facts->hit, facts->hits,
            facts->hits == 1 ? "" : "s");
    if (facts->has_longest_hit)
        fprintf(stream, ", %s%s after the beginning that was marked",
                facts->hits == 1 ? "" : "at most ", duration_format(text, facts->longest_hit));
    fputs("; -tree shows where.\n", stream);
}

static void print_marks(const struct report_facts *facts, FILE *stream)
{
    if (facts->gaps)
        fprintf(stream,
                "Note: the trace has %" PRIu64
                " gap%s, where it is not known what happened; -tree shows where.\n",
                facts->gaps, facts->gaps == 1 ? "" : "s");
    if (facts->notes)
        fprintf(stream, "Note: the trace has %" PRIu64 " mark%s of events; -tree shows where.\n",
                facts->notes, facts->notes == 1 ? "" : "s");
}

static void print_cut_calls(const struct report_facts *facts, FILE *stream)
{
    if (facts->start_inferred)
        fprintf(stream, "Note: the beginning of %" PRIu64 " call%s was not seen%s.\n",
                facts->start_inferred, facts->start_inferred == 1 ? "" : "s", NOT_WHOLE);
    if (facts->still_open)
        fprintf(stream, "Note: %" PRIu64 " call%s still open when the trace ends%s.\n",
                facts->still_open, facts->still_open == 1 ? " is" : "s are", NOT_WHOLE);
    if (facts->end_inferred)
        fprintf(stream, "Note: the end of %" PRIu64 " call%s was not seen%s.\n",
                facts->end_inferred, facts->end_inferred == 1 ? "" : "s", NOT_WHOLE);
    if (facts->beyond)
        fprintf(stream,
                "Note: %" PRIu64
                " call%s only in part between the two moments; that part counts in "
                "total and self, not in min to max.\n",
                facts->beyond, facts->beyond == 1 ? " lies" : "s lie");
}

static void print_notes(const struct report_facts *facts, FILE *stream)
{
    if (facts->recorded)
        fprintf(stream, "%s.\n", facts->recorded);
    if (facts->sampled)
        fputs("Note: these are samples, not calls. A span is what samples one after the other have "
              "in common; how often a function was called, and how long a call took, is not known, "
              "and times are as exact as samples are dense.\n",
              stream);
    print_hits(facts, stream);
    print_marks(facts, stream);
    print_cut_calls(facts, stream);
    if (facts->counters)
        report_counters_print(facts->counters, stream);
}

static void print_quantile(uint64_t value, bool is_approximate, FILE *stream)
{
    char text[DURATION_TEXT_SIZE], cell[DURATION_TEXT_SIZE + 1];
    snprintf(cell, sizeof cell, "%s%s", is_approximate ? "~" : "", duration_format(text, value));
    fprintf(stream, "%10s ", cell);
}

/* `known`: the spans are calls, and so have lengths of their own. */
static void print_quantiles(const struct report_row *row, bool known, FILE *stream)
{
    char number[24] = "-";
    if (row->whole == 0 || !known) {
        fprintf(stream, "%10s %10s %10s %10s %9s  ", "-", "-", "-", "-", "-");
        return;
    }
    print_quantile(row->min, false, stream);
    print_quantile(row->median, row->median_is_approximate, stream);
    print_quantile(row->p99, row->p99_is_approximate, stream);
    print_quantile(row->max, false, stream);
    if (row->longest)
        snprintf(number, sizeof number, "#%" PRIu64, row->longest);
    fprintf(stream, "%9s  ", number);
}

static void print_row(const struct report_row *row, const struct report_facts *facts,
                      uint64_t program_self, FILE *stream)
{
    char text[DURATION_TEXT_SIZE];
    fprintf(stream, "%10" PRIu64 " ", row->calls);
    if (facts->has_off_cpu)
        fprintf(stream, "%10s ", duration_format(text, row->total - row->off_cpu));
    fprintf(stream, "%10s ", duration_format(text, row->total));
    fprintf(stream, "%10s ", duration_format(text, row->self));
    if (row->function->special)
        fprintf(stream, "%6s ", "-");
    else
        fprintf(stream, "%5.1f%% ", percent(row->self, program_self));
    print_quantiles(row, !facts->sampled, stream);
    fprintf(stream, "%s%s\n", row->function->name, span_inlined_suffix(row->function));
}

void report_rows_print(const struct report_facts *facts, const struct array *rows, size_t top,
                       FILE *stream)
{
    struct self_sums sums = sum_up(rows);
    size_t shown = shown_of(rows, top);
    print_head(facts, &sums, stream);
    print_notes(facts, stream);
    if (shown)
        fprintf(stream, "\n%10s %s%10s %10s %6s %10s %10s %10s %10s %9s  %s\n",
                facts->sampled ? "spans" : "calls", facts->has_off_cpu ? "    on-cpu " : "",
                "total", "self", "self%", "min", "median", "p99", "max", "its call", "function");
    for (size_t i = 0; i < shown; i++)
        print_row(array_at(rows, i), facts, sums.program, stream);
    if (shown < rows->count)
        fprintf(stream, "... and %zu more functions\n", rows->count - shown);
}

/* ---- JSON ---- */

static void begin_json(struct json_report *report, const struct report_facts *facts,
                       const struct self_sums *sums, size_t max_bytes, FILE *stream)
{
    char *head = memory_format(
        "\"report\": \"functions\", \"sampled\": %s, \"%s\": %" PRIu64
        ", \"threads\": %zu, \"duration\": %" PRIu64 ", \"program_self\": %" PRIu64
        ", \"outside_self\": %" PRIu64 ", \"not_running\": %" PRIu64 ", \"hits\": %" PRIu64
        ", \"gaps\": %" PRIu64 ", \"start_not_seen\": %" PRIu64 ", \"end_not_seen\": %" PRIu64
        ", \"still_open\": %" PRIu64 ", \"in_part\": %" PRIu64,
        facts->sampled ? "true" : "false", json_name_of_calls(facts->sampled), sums->calls,
        facts->threads, facts->duration, sums->program, sums->special, sums->off_cpu, facts->hits,
        facts->gaps, facts->start_inferred, facts->end_inferred, facts->still_open, facts->beyond);
    json_report_begin(report, stream, head, "functions", max_bytes);
    free(head);
}

/* Of calls seen whole; samples have no calls. */
static char *json_of_whole(const struct report_row *row, bool sampled)
{
    if (row->whole == 0 || sampled)
        return memory_copy_string("\"whole\": 0");
    bool is_approximate = row->median_is_approximate || row->p99_is_approximate;
    return memory_format("\"whole\": %" PRIu64 ", \"min\": %" PRIu64 ", \"median\": %" PRIu64
                         ", \"p99\": %" PRIu64 ", \"max\": %" PRIu64 ", \"max_call\": %" PRIu64
                         ", \"approximate\": %s",
                         row->whole, row->min, row->median, row->p99, row->max, row->longest,
                         is_approximate ? "true" : "false");
}

/* null: it is not known. */
static char *json_of_on_cpu(const struct report_row *row, const struct report_facts *facts)
{
    return facts->has_off_cpu ? memory_format("%" PRIu64, row->total - row->off_cpu)
                              : memory_copy_string("null");
}

static char *json_of_row(const struct report_row *row, const struct report_facts *facts)
{
    bool sampled = facts->sampled;
    char *on_cpu = json_of_on_cpu(row, facts);
    const struct span_function *function = row->function;
    char *name = json_member("function", function->name);
    char *file = json_member("file", function->file);
    char *whole = json_of_whole(row, sampled);
    char *item =
        memory_format("{%s, \"%s\": %" PRIu64 ", \"self\": %" PRIu64 ", \"total\": %" PRIu64
                      ", \"on_cpu\": %s, %s, \"code\": \"%s\", %s, \"line\": %" PRIu32 "}",
                      name, json_name_of_calls(sampled), row->calls, row->self, row->total, on_cpu,
                      whole, span_origin_word(function), file, function->line);
    free(name);
    free(on_cpu);
    free(file);
    free(whole);
    return item;
}

void report_rows_print_json(const struct report_facts *facts, const struct array *rows, size_t top,
                            size_t max_bytes, FILE *stream)
{
    struct self_sums sums = sum_up(rows);
    size_t shown = shown_of(rows, top);
    struct json_report report;
    begin_json(&report, facts, &sums, max_bytes, stream);
    for (size_t i = 0; i < shown; i++)
        json_report_add(&report, json_of_row(array_at(rows, i), facts), shown - i);
    report.omitted = rows->count - shown;
    json_report_end(&report);
}
