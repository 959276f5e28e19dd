/* The lines of a thread's tree in which equal neighbours are one line, "x12": calls of the same function that call the
 * same functions in the same order, whatever the times.
 *
 * Called by the tree report, of a trace (report_tree.c) and of an index (analysis/call_tree.c). Memory: 24 bytes a line
 * besides the lines.
 */
#ifndef MAGIC_TRACE_OUTPUT_REPORT_FOLDED_LINES_H
#define MAGIC_TRACE_OUTPUT_REPORT_FOLDED_LINES_H

#include "base/array.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* `lines` (of struct tree_line): callers before callees, in time order. `first`: the time that is shown as 0. */
void folded_lines_print(const struct array *lines, uint64_t first, bool short_names, FILE *stream);

#endif
