/* Stacks for flame graphs: one line "THREAD-TID;caller;callee NANOSECONDS" per distinct stack, with
 * the time spent in its innermost function itself, as https://github.com/brendangregg/FlameGraph
 * and its kin read it.
 *
 * Called by report.c and the folded export; of a part of a trace analysis/stack_report.c prints the same. Memory is per
 * distinct stack, not per call. Of stacks deeper than 1,024 frames those in the middle are one, "[...]".
 */
#ifndef MAGIC_TRACE_OUTPUT_REPORT_REPORT_FOLDED_H
#define MAGIC_TRACE_OUTPUT_REPORT_REPORT_FOLDED_H

#include "base/error.h"
#include "stack/spans/span.h"

#include <stdbool.h>
#include <stdio.h>

/* Reads `source` to its end. `wall`: with the time in which threads were not running. When the source fails half way, what came before is still printed and
 * the source's error returned. */
bool report_folded(struct span_source *source, bool wall, FILE *stream, struct error *error);

/* The same as JSON (json_report.h), at most `max_bytes` long, or of any size when that is 0. */
bool report_stacks_json(struct span_source *source, bool wall, size_t max_bytes, FILE *stream,
                        struct error *error);

#endif
