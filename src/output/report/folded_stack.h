/* One stack of a flame graph as text: "THREAD-TID;caller;callee NANOSECONDS", or as JSON.
 *
 * Called by report_folded.c, which reads a trace, and analysis/stack_report.c, which asks an index. A semicolon in a name
 * becomes a colon and a line break a space, because the format
 * (https://github.com/brendangregg/FlameGraph) has no escape.
 */
#ifndef MAGIC_TRACE_OUTPUT_REPORT_FOLDED_STACK_H
#define MAGIC_TRACE_OUTPUT_REPORT_FOLDED_STACK_H

#include "base/array.h"
#include "output/report/json_report.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct folded_stack {
    const char *thread;
    uint32_t tid;
    const struct array
        *frames;   /* of const char *, innermost first; NULL stands for frames that are left out */
    uint64_t self; /* ns */
    uint64_t calls;
};

void folded_stack_print(const struct folded_stack *stack, FILE *stream);

/* The report that the stacks as JSON are items of: json_report.h. */
void folded_stacks_json_begin(struct json_report *report, FILE *stream, bool sampled,
                              size_t max_bytes);
/* Such an item. The caller frees. */
char *folded_stack_json(const struct folded_stack *stack, bool sampled);

#endif
