/* The reports, on small traces whose figures were computed by hand. */
#include "output/report/report_folded.h"
#include "output/report/report_table.h"
#include "output/report/report_tree.h"
#include "span_script.h"

#include "base/memory.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------------ reports as text */

static char *table_of(struct span_script *script, struct report_table_options options,
                      struct error *error)
{
    char *text = NULL;
    size_t size;
    FILE *stream = open_memstream(&text, &size);
    *error = (struct error){0};
    (void)report_table(span_script_source(script), &options, stream, error);
    fclose(stream);
    return text;
}

static char *tree_of(struct span_script *script, struct report_tree_options options,
                     struct error *error)
{
    char *text = NULL;
    size_t size;
    FILE *stream = open_memstream(&text, &size);
    *error = (struct error){0};
    (void)report_tree(span_script_source(script), &options, stream, error);
    fclose(stream);
    return text;
}

static char *folded_of(struct span_script *script, bool wall)
{
    char *text = NULL;
    size_t size;
    FILE *stream = open_memstream(&text, &size);
    struct error error;
    assert_true(report_folded(span_script_source(script), wall, stream, &error));
    fclose(stream);
    return text;
}

/* Columns in a row of the table, split at two or more blanks or at the blank before a number. */
struct row {
    char calls[32], total[32], self[32], share[32], min[32], median[32], p99[32], max[32];
};

/* The row of `function`; all empty when there is none. */
static struct row row_of(const char *table, const char *function)
{
    struct row row = {0};
    char *ending = memory_format("  %s\n", function);
    const char *end = strstr(table, ending);
    free(ending);
    if (!end)
        return row;
    const char *start = end;
    while (start > table && start[-1] != '\n')
        start--;
    sscanf(start,
           "%10[^\n]%*c%10[^\n]%*c%10[^\n]%*c%6[^\n]%*c%10[^\n]%*c%10[^\n]%*c%10[^\n]%*c%10[^\n]",
           row.calls, row.total, row.self, row.share, row.min, row.median, row.p99, row.max);
    return row;
}

static void assert_cell(const char *cell, const char *expected)
{
    assert_string_equal(cell + strspn(cell, " "), expected);
}

static void assert_row(const char *table, const char *function, const char *calls,
                       const char *total, const char *self, const char *min, const char *median,
                       const char *max)
{
    struct row row = row_of(table, function);
    assert_cell(row.calls, calls);
    assert_cell(row.total, total);
    assert_cell(row.self, self);
    assert_cell(row.min, min);
    assert_cell(row.median, median);
    assert_cell(row.max, max);
}

static void assert_contains(const char *text, const char *part)
{
    assert_non_null(text);
    if (!strstr(text, part))
        fail_msg("\"%s\" is not in:\n%s", part, text);
}

static void assert_lacks(const char *text, const char *part)
{
    assert_non_null(text);
    if (strstr(text, part))
        fail_msg("\"%s\" is in:\n%s", part, text);
}

/* ------------------------------------------------------------------ traces
 *
 * main 0-1000 calls a 100-300 and a 400-500; the first a calls b 150-250. */
static struct span_script *simple_trace(void)
{
    struct span_script *script = span_script_new();
    uint32_t track = span_script_track(script, 10, 10, "prog", "main");
    span_script_enter(script, track, 0, "main");
    span_script_enter(script, track, 100, "a");
    span_script_enter(script, track, 150, "b");
    span_script_leave(script, track, 250);
    span_script_leave(script, track, 300);
    span_script_enter(script, track, 400, "a");
    span_script_leave(script, track, 500);
    span_script_leave(script, track, 1000);
    return script;
}

/* ------------------------------------------------------------------ table */

static void table_counts_calls_and_times(void **state)
{
    (void)state;
    struct span_script *script = simple_trace();
    struct error error;
    char *table = table_of(script, (struct report_table_options){0}, &error);
    assert_row(table, "main", "1", "1.000 us", "700 ns", "1.000 us", "1.000 us", "1.000 us");
    assert_row(table, "a", "2", "300 ns", "200 ns", "100 ns", "100 ns", "200 ns");
    assert_row(table, "b", "1", "100 ns", "100 ns", "100 ns", "100 ns", "100 ns");
    assert_cell(row_of(table, "main").share, "70.0%");
    assert_contains(table, "4 calls in 1 thread within 1.000 us; in the program 1.000 us\n");
    assert_lacks(table, "Note");
    free(table);
    span_script_free(script);
}

static void recursion_counts_in_total_once(void **state)
{
    (void)state;
    struct span_script *script = span_script_new();
    uint32_t a = span_script_track(script, 10, 10, "prog", "main");
    uint32_t b = span_script_track(script, 10, 11, "prog", "worker");
    /* f 0-100 > g 10-90 > f 20-60 > f 30-50, and at the same time f 0-100 in another thread */
    span_script_enter(script, a, 0, "f");
    span_script_enter(script, b, 0, "f");
    span_script_enter(script, a, 10, "g");
    span_script_enter(script, a, 20, "f");
    span_script_enter(script, a, 30, "f");
    span_script_leave(script, a, 50);
    span_script_leave(script, a, 60);
    span_script_leave(script, a, 90);
    span_script_leave(script, a, 100);
    span_script_leave(script, b, 100);
    struct error error;
    char *table = table_of(script, (struct report_table_options){0}, &error);
    /* self: 20 (outermost) + 20 + 20 in the first thread, 100 in the second */
    assert_row(table, "f", "4", "200 ns", "160 ns", "20 ns", "40 ns", "100 ns");
    assert_row(table, "g", "1", "80 ns", "40 ns", "80 ns", "80 ns", "80 ns");
    free(table);
    span_script_free(script);
}

static void table_is_sorted_and_cut(void **state)
{
    (void)state;
    struct span_script *script = span_script_new();
    uint32_t track = span_script_track(script, 1, 1, "prog", "main");
    span_script_enter(script, track, 0, "outer");
    span_script_enter(script, track, 1, "inner");
    span_script_enter(script, track, 2, "leaf");
    span_script_leave(script, track, 90);
    span_script_leave(script, track, 95);
    span_script_leave(script, track, 97);
    struct error error;
    char *by_self =
        table_of(script, (struct report_table_options){.sort = REPORT_SORT_SELF}, &error);
    assert_true(strstr(by_self, "  leaf\n") < strstr(by_self, "  inner\n"));
    assert_true(strstr(by_self, "  inner\n") < strstr(by_self, "  outer\n"));
    char *by_total =
        table_of(script, (struct report_table_options){.sort = REPORT_SORT_TOTAL}, &error);
    assert_true(strstr(by_total, "  outer\n") < strstr(by_total, "  inner\n"));
    assert_true(strstr(by_total, "  inner\n") < strstr(by_total, "  leaf\n"));
    char *top = table_of(script, (struct report_table_options){.top = 1}, &error);
    assert_contains(top, "  leaf\n... and 2 more functions\n");
    assert_lacks(top, "  inner\n");
    free(top);
    free(by_total);
    free(by_self);
    span_script_free(script);
}

static void calls_not_seen_whole_are_kept_out_of_the_distribution(void **state)
{
    (void)state;
    struct span_script *script = span_script_new();
    uint32_t track = span_script_track(script, 1, 1, "prog", "main");
    span_script_enter(script, track, 0, "main")->flags = SPAN_START_INFERRED;
    span_script_enter(script, track, 0, "f")->flags = SPAN_START_INFERRED;
    span_script_leave(script, track, 5);
    span_script_enter(script, track, 10, "f");
    span_script_leave(script, track, 40);
    span_script_enter(script, track, 50, "f");
    span_script_leave(script, track, 57)->end = SPAN_END_GAP;
    span_script_instant(script, track, 60, "[overflow]");
    span_script_instant(script, track, 61, "page-faults");
    span_script_leave(script, track, 100)->end = SPAN_END_OF_TRACE;
    struct error error;
    char *table = table_of(script, (struct report_table_options){0}, &error);
    assert_row(table, "f", "3", "42 ns", "42 ns", "30 ns", "30 ns", "30 ns");
    assert_row(table, "main", "1", "100 ns", "58 ns", "-", "-", "-");
    assert_contains(table, "Note: the trace has 1 gap,");
    assert_contains(table, "Note: the trace has 1 mark of events;");
    assert_contains(table, "Note: the beginning of 2 calls was not seen;");
    assert_contains(table, "Note: the end of 1 call was not seen;");
    assert_contains(table, "Note: 1 call is still open when the trace ends;");
    free(table);
    span_script_free(script);
}

/* Of 65 calls the quantiles come from a histogram: exact where its classes are single values. */
static void quantiles_that_are_approximate_are_marked(void **state)
{
    (void)state;
    struct span_script *script = span_script_new();
    uint32_t track = span_script_track(script, 1, 1, "prog", "main");
    uint64_t time = 0;
    for (unsigned i = 0; i < 65; i++) {
        static const char *const names[] = {"short", "equal", "long"};
        const uint64_t lengths[] = {100 + i, 5000, 5000 + 100 * i};
        for (unsigned j = 0; j < 3; j++) {
            span_script_enter(script, track, time, names[j]);
            span_script_leave(script, track, time += lengths[j]);
        }
    }
    struct error error;
    char *table = table_of(script, (struct report_table_options){0}, &error);
    assert_cell(row_of(table, "short").median, "132 ns");
    assert_cell(row_of(table, "equal").median, "5.000 us");
    assert_int_equal(row_of(table, "long").median[strspn(row_of(table, "long").median, " ")], '~');
    assert_int_equal(row_of(table, "long").p99[strspn(row_of(table, "long").p99, " ")], '~');
    assert_null(strchr(row_of(table, "long").max, '~'));
    free(table);
    span_script_free(script);
}

static void counters_are_reported_beside_the_calls(void **state)
{
    (void)state;
    struct span_script *script = span_script_new();
    uint32_t track = span_script_track(script, 1, 1, "prog", "main");
    span_script_counter(script, track, 0, "frequency of CPU 0 (MHz)", 2600);
    span_script_enter(script, track, 10, "f");
    span_script_counter(script, track, 20, "frequency of CPU 0 (MHz)", 800);
    span_script_counter(script, track, 25, "load", 0.25);
    span_script_leave(script, track, 110);
    struct error error;
    char *table = table_of(script, (struct report_table_options){0}, &error);
    assert_contains(table, "1 call in 1 thread");
    assert_contains(table,
                    "Note: frequency of CPU 0 (MHz) was between 800 and 2600, recorded 2 times.\n");
    assert_contains(table, "Note: load was between 0.25 and 0.25, recorded 1 time.\n");
    char *tree = tree_of(script, (struct report_tree_options){0}, &error);
    assert_contains(tree, "f");
    char *folded = folded_of(script, true);
    assert_string_equal(folded, "main-1;f 100\n");
    free(table);
    free(tree);
    free(folded);
    span_script_free(script);
}

static void time_outside_the_program_is_distinguished(void **state)
{
    (void)state;
    struct span_script *script = span_script_new();
    span_script_function(script, "[syscall]")->special = true;
    uint32_t track = span_script_track(script, 1, 1, "prog", "main");
    span_script_enter(script, track, 0, "main");
    span_script_enter(script, track, 10, "[syscall]");
    span_script_leave(script, track, 90);
    span_script_leave(script, track, 100);
    struct error error;
    char *table = table_of(script, (struct report_table_options){0}, &error);
    assert_contains(table, "in the program 20 ns, outside of it (rows without self%) 80 ns\n");
    assert_cell(row_of(table, "main").share, "100.0%");
    assert_cell(row_of(table, "[syscall]").share, "-");
    free(table);
    span_script_free(script);
}

static void functions_of_one_name_are_one_row(void **state)
{
    (void)state;
    struct span_script *script = span_script_new();
    span_script_function(script, "another f")->name = "f";
    uint32_t track = span_script_track(script, 1, 1, "prog", "main");
    span_script_enter(script, track, 0, "f");
    span_script_enter(script, track, 10, "another f");
    span_script_leave(script, track, 40);
    span_script_leave(script, track, 100);
    struct error error;
    char *table = table_of(script, (struct report_table_options){0}, &error);
    struct row row = row_of(table, "f");
    assert_cell(row.calls, "2");
    assert_cell(row.total, "100 ns");
    assert_cell(row.self, "100 ns");
    assert_null(strstr(strstr(table, "  f\n") + 1, "  f\n"));
    free(table);
    span_script_free(script);
}

static void a_failing_source_is_reported_after_its_events(void **state)
{
    (void)state;
    struct span_script *script = simple_trace();
    error_set(&script->fails_with, ERROR_FORMAT, "damaged");
    struct error error;
    char *table = table_of(script, (struct report_table_options){0}, &error);
    assert_string_equal(error.text, "damaged");
    assert_contains(table, "  main\n");
    char *tree = tree_of(script, (struct report_tree_options){0}, &error);
    assert_string_equal(error.text, "damaged");
    assert_contains(tree, "main\n");
    free(tree);
    free(table);
    span_script_free(script);
}

static void an_empty_trace_has_reports(void **state)
{
    (void)state;
    struct span_script *script = span_script_new();
    struct error error;
    char *table = table_of(script, (struct report_table_options){0}, &error);
    assert_contains(table, "0 calls in 0 threads");
    char *tree = tree_of(script, (struct report_tree_options){0}, &error);
    assert_string_equal(tree, "");
    char *folded = folded_of(script, true);
    assert_string_equal(folded, "");
    assert_int_equal(error.code, ERROR_NONE);
    free(folded);
    free(tree);
    free(table);
    span_script_free(script);
}

/* ------------------------------------------------------------------ tree */

/* The tree without its headings and with single blanks. */
static char *lines_of(const char *tree)
{
    char *lines = memory_allocate(strlen(tree) + 1), *to = lines;
    for (const char *line = tree; *line; line = strchr(line, '\n') + 1) {
        const char *start = line + strspn(line, " ");
        if (strncmp(line, "thread ", 7) == 0 || strncmp(start, "offset", 6) == 0 || *start == '\n')
            continue;
        for (const char *c = start; *c != '\n'; c++)
            if (*c != ' ' || c[1] != ' ')
                *to++ = *c;
        *to++ = '\n';
    }
    *to = 0;
    return lines;
}

static void assert_tree(struct span_script *script, struct report_tree_options options,
                        const char *expected)
{
    struct error error;
    char *tree = tree_of(script, options, &error);
    if (error.code != ERROR_NONE)
        fail_msg("%s", error.text);
    char *lines = lines_of(tree);
    assert_string_equal(lines, expected);
    free(lines);
    free(tree);
}

static void assert_tree_fails(struct span_script *script, struct report_tree_options options,
                              enum error_code code, const char *words)
{
    struct error error;
    char *tree = tree_of(script, options, &error);
    assert_int_equal(error.code, code);
    assert_contains(error.text, words);
    free(tree);
}

static void tree_is_indented_with_moments_and_lengths(void **state)
{
    (void)state;
    struct span_script *script = simple_trace();
    struct error error;
    char *tree = tree_of(script, (struct report_tree_options){0}, &error);
    assert_string_equal(tree, "thread main (tid 10) of process prog (pid 10)\n"
                              "            offset   duration  call\n"
                              "              0 ns   1.000 us  main\n"
                              "            100 ns     200 ns    a\n"
                              "            150 ns     100 ns      b\n"
                              "            400 ns     100 ns    a\n");
    free(tree);
    span_script_free(script);
}

static void windows_by_time(void **state)
{
    (void)state;
    struct span_script *script = simple_trace();
    assert_tree(script, (struct report_tree_options){.from = "200", .to = "310"},
                "0 ns 1.000 us main\n100 ns 200 ns a\n150 ns 100 ns b\n");
    assert_tree(script, (struct report_tree_options){.from = "0.3us"},
                "0 ns 1.000 us main\n100 ns 200 ns a\n400 ns 100 ns a\n");
    assert_tree(script, (struct report_tree_options){.to = "99ns"}, "0 ns 1.000 us main\n");
    /* between two events */
    assert_tree(script, (struct report_tree_options){.from = "160", .to = "170"},
                "0 ns 1.000 us main\n100 ns 200 ns a\n150 ns 100 ns b\n");
    assert_tree(script, (struct report_tree_options){.around = "450"},
                "0 ns 1.000 us main\n100 ns 200 ns a\n150 ns 100 ns b\n400 ns 100 ns a\n");
    span_script_free(script);
}

static void windows_by_call(void **state)
{
    (void)state;
    struct span_script *script = simple_trace();
    assert_tree(script, (struct report_tree_options){.around = "a"},
                "0 ns 1.000 us main\n100 ns 200 ns a\n150 ns 100 ns b\n");
    assert_tree(script, (struct report_tree_options){.around = "a#2"},
                "0 ns 1.000 us main\n400 ns 100 ns a\n");
    assert_tree(script, (struct report_tree_options){.from = "b"},
                "0 ns 1.000 us main\n100 ns 200 ns a\n150 ns 100 ns b\n400 ns 100 ns a\n");
    assert_tree(script, (struct report_tree_options){.from = "260", .to = "a#2"},
                "0 ns 1.000 us main\n100 ns 200 ns a\n400 ns 100 ns a\n");
    span_script_free(script);
}

static void functions_are_found_by_short_name_and_symbol(void **state)
{
    (void)state;
    struct span_script *script = span_script_new();
    span_script_function(script, "ns::f(int)")->symbol = "_ZN2ns1fEi";
    uint32_t track = span_script_track(script, 1, 1, "prog", "main");
    span_script_enter(script, track, 0, "ns::f_other(int)");
    span_script_leave(script, track, 10);
    span_script_enter(script, track, 20, "ns::f(int)");
    span_script_leave(script, track, 30);
    static const char *const NAMES[] = {"ns::f", "ns::f(int)", "_ZN2ns1fEi"};
    for (size_t i = 0; i < sizeof NAMES / sizeof NAMES[0]; i++)
        assert_tree(script, (struct report_tree_options){.around = NAMES[i]},
                    "20 ns 10 ns ns::f(int)\n");
    span_script_free(script);
}

static void windows_that_make_no_sense(void **state)
{
    (void)state;
    struct span_script *script = simple_trace();
    assert_tree_fails(script, (struct report_tree_options){.around = "nobody"}, ERROR_NOT_FOUND,
                      "no call of nobody");
    assert_tree_fails(script, (struct report_tree_options){.around = "a#3"}, ERROR_NOT_FOUND,
                      "only 2 calls of a");
    assert_tree_fails(script, (struct report_tree_options){.to = "nobody"}, ERROR_NOT_FOUND,
                      "no call of nobody");
    assert_tree_fails(script, (struct report_tree_options){.from = "2ms"}, ERROR_NOT_FOUND,
                      "after the end");
    assert_tree_fails(script, (struct report_tree_options){.from = "500", .to = "200"}, ERROR_USAGE,
                      "before");
    assert_tree_fails(script, (struct report_tree_options){.from = "a#2", .to = "b"}, ERROR_USAGE,
                      "comes first");
    assert_tree_fails(script, (struct report_tree_options){.from = "a#0"}, ERROR_USAGE, "a#0");
    assert_tree_fails(script, (struct report_tree_options){.around = "a", .to = "b"}, ERROR_USAGE,
                      "-around");
    span_script_free(script);
}

static void other_threads_are_shown_in_the_same_window(void **state)
{
    (void)state;
    struct span_script *script = span_script_new();
    uint32_t a = span_script_track(script, 10, 10, "prog", "main");
    uint32_t b = span_script_track(script, 10, 11, "prog", "worker");
    span_script_enter(script, a, 0, "main");
    span_script_enter(script, b, 0, "loop");
    span_script_enter(script, b, 10, "early");
    span_script_leave(script, b, 20);
    span_script_enter(script, a, 100, "f");
    span_script_enter(script, b, 110, "meanwhile");
    span_script_leave(script, b, 120);
    span_script_leave(script, a, 200);
    span_script_enter(script, b, 210, "late");
    span_script_leave(script, b, 220);
    span_script_leave(script, b, 300);
    span_script_leave(script, a, 300);
    assert_tree(script, (struct report_tree_options){.around = "f"},
                "0 ns 300 ns main\n100 ns 100 ns f\n0 ns 300 ns loop\n110 ns 10 ns meanwhile\n");
    span_script_free(script);
}

static void tree_shows_gaps_and_what_was_not_seen(void **state)
{
    (void)state;
    struct span_script *script = span_script_new();
    uint32_t track = span_script_track(script, 1, 1, "prog", "main");
    span_script_enter(script, track, 0, "main")->flags = SPAN_START_INFERRED;
    span_script_enter(script, track, 10, "f");
    span_script_instant(script, track, 15, "gap: overflow");
    span_script_leave(script, track, 20)->end = SPAN_END_UNWOUND;
    span_script_enter(script, track, 30, "g");
    span_script_leave(script, track, 31)->flags = SPAN_END_INFERRED;
    struct span_event *leave = span_script_leave(script, track, 40);
    leave->end = SPAN_END_OF_TRACE;
    leave->flags = SPAN_ACROSS_GAP;
    assert_tree(
        script, (struct report_tree_options){0},
        "0 ns 40 ns main [beginning not seen] [still open when the trace ends] [goes on across "
        "a gap]\n"
        "10 ns 10 ns f [unwound]\n"
        "15 ns -- gap: overflow --\n"
        "30 ns 1 ns g [end not seen]\n");
    span_script_free(script);
}

static void neighbours_that_look_the_same_are_folded_on_request(void **state)
{
    (void)state;
    struct span_script *script = span_script_new();
    uint32_t track = span_script_track(script, 1, 1, "prog", "main");
    span_script_enter(script, track, 0, "main");
    for (unsigned i = 0; i < 12; i++) {
        span_script_enter(script, track, 10 + i * 10, "f");
        span_script_enter(script, track, 11 + i * 10, "g");
        span_script_leave(script, track, 12 + i * 10);
        if (i == 11) {
            span_script_enter(script, track, 13 + i * 10, "g");
            span_script_leave(script, track, 14 + i * 10);
        }
        span_script_leave(script, track, 15 + i * 10);
    }
    span_script_leave(script, track, 200);
    assert_tree(script, (struct report_tree_options){.fold = true},
                "0 ns 200 ns main\n"
                "10 ns 5 ns f x11, together 55 ns\n"
                "11 ns 1 ns g\n"
                "120 ns 5 ns f\n"
                "121 ns 1 ns g x2, together 2 ns\n");
    struct error error;
    char *unfolded = tree_of(script, (struct report_tree_options){0}, &error);
    assert_lacks(unfolded, "x11");
    free(unfolded);
    span_script_free(script);
}

static void deep_lines_report_their_depth(void **state)
{
    (void)state;
    struct span_script *script = span_script_new();
    uint32_t track = span_script_track(script, 1, 1, "prog", "main");
    for (unsigned i = 0; i < 2000; i++)
        span_script_enter(script, track, i, "f");
    for (unsigned i = 0; i < 2000; i++)
        span_script_leave(script, track, 2000 + i);
    struct error error;
    char *tree = tree_of(script, (struct report_tree_options){0}, &error);
    assert_contains(tree, " (depth 1999) f\n");
    assert_true(strlen(tree) < 2000 * 200);
    free(tree);
    span_script_free(script);
}

/* ------------------------------------------------------------------ folded */

static void folded_stacks_are_added_up(void **state)
{
    (void)state;
    struct span_script *script = simple_trace();
    char *folded = folded_of(script, true);
    assert_string_equal(folded, "main-10;main 700\nmain-10;main;a 200\nmain-10;main;a;b 100\n");
    free(folded);
    span_script_free(script);
}

static void folded_stacks_keep_threads_apart_and_names_whole(void **state)
{
    (void)state;
    struct span_script *script = span_script_new();
    uint32_t a = span_script_track(script, 1, 1, "prog", "t");
    uint32_t b = span_script_track(script, 1, 2, "prog", "t");
    span_script_enter(script, a, 0, "x;y\nz w");
    span_script_enter(script, b, 0, "x;y\nz w");
    span_script_leave(script, b, 20);
    span_script_leave(script, a, 30);
    char *folded = folded_of(script, true);
    assert_string_equal(folded, "t-1;x:y z w 30\nt-2;x:y z w 20\n");
    free(folded);
    span_script_free(script);
}

/* ------------------------------------------------------------------ hits
 *
 * The simple trace, with a hit in its thread at 450, since 120, and one of a thread that is not in
 * the trace at 600. */
static const struct span_hit first_hit = {.time = {450},
                                          .passed = {120},
                                          .has_passed = true,
                                          .has_argument = true,
                                          .argument = -7,
                                          .address = 0x1000,
                                          .pid = 10,
                                          .tid = 10};
static const struct span_hit foreign_hit = {.time = {600}, .address = 0x1000, .pid = 3, .tid = 3};

static struct span_script *trace_with_hits(void)
{
    struct span_script *script = span_script_new();
    uint32_t track = span_script_track(script, 10, 10, "prog", "main");
    uint32_t hits = span_script_track(script, 11, 11, "Snapshot symbol hits", "hits");
    span_script_enter(script, track, 0, "main");
    span_script_enter(script, track, 100, "a");
    span_script_enter(script, hits, 120, "hit a")->hit = &first_hit;
    span_script_leave(script, track, 300);
    span_script_enter(script, track, 400, "a");
    /* As a filter cuts it. */
    span_script_leave(script, hits, 420)->end = SPAN_END_FILTER;
    span_script_enter(script, hits, 430, "hit a")->hit = &first_hit;
    span_script_leave(script, hits, 450);
    span_script_leave(script, track, 500);
    span_script_enter(script, hits, 600, "hit a")->hit = &foreign_hit;
    span_script_leave(script, hits, 600);
    span_script_leave(script, track, 1000);
    return script;
}

static void hits_are_no_calls(void **state)
{
    (void)state;
    struct span_script *script = trace_with_hits();
    struct error error;
    char *table = table_of(script, (struct report_table_options){0}, &error);
    assert_contains(table, "3 calls in 1 thread within 1.000 us; in the program 1.000 us\n");
    assert_contains(table, "Note: hit a, 2 times, at most 330 ns after the beginning that was "
                           "marked; -tree shows where.\n");
    assert_cell(row_of(table, "hit a").calls, "");
    free(table);
    char *folded = folded_of(script, true);
    assert_lacks(folded, "hit");
    free(folded);
    span_script_free(script);
}

static void hits_are_shown_in_their_thread(void **state)
{
    (void)state;
    struct span_script *script = trace_with_hits();
    struct error error;
    char *tree = tree_of(script, (struct report_tree_options){0}, &error);
    assert_string_equal(tree, "thread main (tid 10) of process prog (pid 10)\n"
                              "            offset   duration  call\n"
                              "              0 ns   1.000 us  main\n"
                              "            100 ns     200 ns    a\n"
                              "            400 ns     100 ns    a\n"
                              "            450 ns     330 ns      -- hit a, argument -7 --\n"
                              "\n"
                              "thread hits (tid 11) of process Snapshot symbol hits (pid 11)\n"
                              "            offset   duration  call\n"
                              "            600 ns             -- hit a --\n");
    free(tree);
    tree = tree_of(script, (struct report_tree_options){.to = "440ns"}, &error);
    assert_contains(tree, "400 ns");
    assert_lacks(tree, "hit");
    free(tree);
    span_script_free(script);
}

static void counters_are_no_calls(void **state)
{
    (void)state;
    struct span_script *script = span_script_new();
    uint32_t track = span_script_track(script, 1, 1, "prog", "main");
    uint32_t core = span_script_track(script, 2, 2, "processor", "core 0");
    span_script_enter(script, track, 0, "main");
    span_script_counter(script, track, 5, "queue", 3);
    span_script_counter(script, core, 6, "frequency (MHz)", 2400);
    span_script_leave(script, track, 10);
    struct error error;
    char *table = table_of(script, (struct report_table_options){0}, &error);
    char *tree = tree_of(script, (struct report_tree_options){0}, &error);
    char *folded = folded_of(script, true);
    assert_cell(row_of(table, "main").calls, "1");
    assert_non_null(strstr(tree, "main"));
    assert_string_equal(folded, "main-1;main 10\n");
    free(table);
    free(tree);
    free(folded);
    span_script_free(script);
}

/* main 0-100 > f 10-90 > f 20-80, of which 30-70 not running; then 95-98 preempted in main */
static struct span_script *script_with_pauses(void)
{
    struct span_script *script = span_script_new();
    uint32_t track = span_script_track(script, 1, 1, "prog", "main");
    span_script_function(script, "[not running]")->special = true;
    span_script_function(script, "[preempted]")->special = true;
    span_script_enter(script, track, 0, "main");
    span_script_enter(script, track, 10, "f");
    span_script_enter(script, track, 20, "f");
    span_script_enter(script, track, 30, "[not running]");
    span_script_leave(script, track, 70);
    span_script_leave(script, track, 80);
    span_script_leave(script, track, 90);
    span_script_enter(script, track, 95, "[preempted]");
    span_script_leave(script, track, 98);
    span_script_leave(script, track, 100);
    return script;
}

static void time_on_a_processor(void **state)
{
    struct span_script *script = script_with_pauses();
    struct error error;
    char *table = table_of(script, (struct report_table_options){0}, &error);
    assert_contains(table, "; in the program 57 ns, not running 43 ns\n");
    assert_contains(table, "     calls     on-cpu      total       self ");
    assert_contains(table, "         2      40 ns      80 ns      40 ns  70.2%");
    assert_contains(table, "         1      57 ns     100 ns      17 ns  29.8%");
    assert_contains(table, "         1       0 ns      40 ns      40 ns      -");
    assert_contains(table, "         1       0 ns       3 ns       3 ns      -");
    assert_true(strstr(table, "  main\n") < strstr(table, "  [not running]\n"));
    free(table);
    table = table_of(script, (struct report_table_options){.sort = REPORT_SORT_ON_CPU}, &error);
    assert_true(strstr(table, "  main\n") < strstr(table, "  f\n"));
    assert_true(strstr(table, "  f\n") < strstr(table, "  [not running]\n"));
    free(table);
    char *running = folded_of(script, false), *all = folded_of(script, true);
    assert_contains(running, "main-1;main;f;f 20\n");
    assert_lacks(running, "[not running]");
    assert_lacks(running, "[preempted]");
    assert_contains(all, "main-1;main;f;f;[not running] 40\n");
    assert_contains(all, "main-1;main;[preempted] 3\n");
    free(running);
    free(all);
    span_script_free(script);
}

static void names_of_a_tree_may_be_short(void **state)
{
    (void)state;
    struct span_script *script = span_script_new();
    uint32_t track = span_script_track(script, 1, 2, "program", "thread");
    span_script_enter(script, track, 100, "Cache<int, long>::find(int const&)");
    span_script_leave(script, track, 250);
    struct error error;
    char *whole = tree_of(script, (struct report_tree_options){0}, &error);
    char *small = tree_of(script, (struct report_tree_options){.short_names = true}, &error);
    assert_non_null(strstr(whole, "  Cache<int, long>::find(int const&)\n"));
    assert_non_null(strstr(small, "  Cache<>::find\n"));
    free(whole);
    free(small);
    span_script_free(script);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(table_counts_calls_and_times),
        cmocka_unit_test(counters_are_no_calls),
        cmocka_unit_test(recursion_counts_in_total_once),
        cmocka_unit_test(time_on_a_processor),
        cmocka_unit_test(table_is_sorted_and_cut),
        cmocka_unit_test(calls_not_seen_whole_are_kept_out_of_the_distribution),
        cmocka_unit_test(quantiles_that_are_approximate_are_marked),
        cmocka_unit_test(counters_are_reported_beside_the_calls),
        cmocka_unit_test(time_outside_the_program_is_distinguished),
        cmocka_unit_test(functions_of_one_name_are_one_row),
        cmocka_unit_test(a_failing_source_is_reported_after_its_events),
        cmocka_unit_test(an_empty_trace_has_reports),
        cmocka_unit_test(tree_is_indented_with_moments_and_lengths),
        cmocka_unit_test(windows_by_time),
        cmocka_unit_test(windows_by_call),
        cmocka_unit_test(functions_are_found_by_short_name_and_symbol),
        cmocka_unit_test(windows_that_make_no_sense),
        cmocka_unit_test(other_threads_are_shown_in_the_same_window),
        cmocka_unit_test(tree_shows_gaps_and_what_was_not_seen),
        cmocka_unit_test(neighbours_that_look_the_same_are_folded_on_request),
        cmocka_unit_test(deep_lines_report_their_depth),
        cmocka_unit_test(hits_are_no_calls),
        cmocka_unit_test(hits_are_shown_in_their_thread),
        cmocka_unit_test(folded_stacks_are_added_up),
        cmocka_unit_test(folded_stacks_keep_threads_apart_and_names_whole),
        cmocka_unit_test(names_of_a_tree_may_be_short),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
