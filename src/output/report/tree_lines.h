/* The lines of a tree report, as text and as JSON: calls, hits of the trigger, and marks.
 *
 * Called by what finds the lines: report_tree.c in the events of a trace, analysis/call_tree.c in an index.
 */
#ifndef MAGIC_TRACE_OUTPUT_REPORT_TREE_LINES_H
#define MAGIC_TRACE_OUTPUT_REPORT_TREE_LINES_H

#include "output/report/json_report.h"
#include "stack/spans/span.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct tree_line {
    const struct span_function *function; /* NULL: an instant */
    const struct span_hit *hit;           /* this is no call, but a hit of the trigger; or NULL */
    const char *text;                     /* of an instant */
    const struct named_values
        *values;            /* of a call whose arguments or result were recorded; or NULL */
    uint64_t start, length; /* ns; length is known when the span has ended */
    uint32_t depth;
    uint8_t flags;       /* enum span_flag */
    uint8_t end;         /* enum span_end */
    bool has_short_name; /* in text the function's name is written as short_name() does */
};

/* Equal neighbours that are one line. */
struct tree_repetition {
    uint64_t count;    /* 1: a line of its own */
    uint64_t together; /* ns */
};

/* What is known of the whole trace, before the first thread. */
void tree_print_head(const char *recorded, bool sampled, FILE *stream);

/* The head of a thread's lines; `is_first`: of the report. */
void tree_print_thread(const struct span_track *thread, bool is_first, bool sampled, FILE *stream);

/* `first`: the time that is shown as 0. */
void tree_print_line(const struct tree_line *line, uint64_t first,
                     const struct tree_repetition *repetition, FILE *stream);

void tree_json_begin(struct json_report *report, FILE *stream, bool sampled, size_t max_bytes);
void tree_json_add(struct json_report *report, const struct tree_line *line,
                   const struct span_track *thread, uint64_t first);

#endif
