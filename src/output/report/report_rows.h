/* The table of functions (report_table.h) as text and as JSON, from its figures.
 *
 * Called by what finds the figures: report_table.c in the events of a trace, analysis/function_report.c in an
 * index.
 */
#ifndef MAGIC_TRACE_OUTPUT_REPORT_REPORT_ROWS_H
#define MAGIC_TRACE_OUTPUT_REPORT_REPORT_ROWS_H

#include "base/array.h"
#include "output/report/report_counters.h"
#include "stack/spans/span.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum report_sort {
    REPORT_SORT_SELF, /* on a processor */
    REPORT_SORT_ON_CPU,
    REPORT_SORT_TOTAL,
    REPORT_SORT_CALLS,
    REPORT_SORT_MEDIAN,
    REPORT_SORT_P99,
    REPORT_SORT_MAX,
};

struct report_table_options {
    enum report_sort sort;
    size_t top; /* rows; 0: all */
};

/* What is known of one function. Times in ns. */
struct report_row {
    const struct span_function *function;
    uint64_t calls;
    uint64_t total, self;
    uint64_t off_cpu; /* of `total`: not running */
    uint64_t whole;   /* calls seen from beginning to end; when 0, none of what follows is known */
    uint64_t min, median, p99, max;
    bool median_is_approximate, p99_is_approximate;
    uint64_t
        longest;  /* the number of the longest among the calls of its name, from 1; 0: not known */
    uint64_t key; /* report_rows_sort() */
};

/* What is known of the trace, or of the part of it that is shown. */
struct report_facts {
    const char *recorded; /* NULL: not known */
    bool sampled;
    size_t threads;
    bool has_off_cpu;                                  /* times in which threads were not running */
    uint64_t duration;                                 /* ns */
    uint64_t gaps, notes;                              /* of the marks */
    uint64_t start_inferred, end_inferred, still_open; /* calls that were not seen whole */
    uint64_t beyond; /* calls that begin before the part that is shown, or end after it */
    const char *hit; /* of the trigger; NULL: none */
    uint64_t hits;
    bool has_longest_hit;                   /* one passed the beginning that was marked */
    uint64_t longest_hit;                   /* ns since then */
    const struct report_counters *counters; /* or NULL */
};

/* By the key, greatest first, then by self time, then by name. `rows`: of struct report_row. */
void report_rows_sort(struct array *rows, enum report_sort sort);

/* The first `top` rows, or all when that is 0. */
void report_rows_print(const struct report_facts *facts, const struct array *rows, size_t top,
                       FILE *stream);
void report_rows_print_json(const struct report_facts *facts, const struct array *rows, size_t top,
                            size_t max_bytes, FILE *stream);

#endif
