/* The formats of `magic-trace export` that are made of the counts of a recording's code and not of
 * its spans.
 */
#ifndef MAGIC_TRACE_CLI_TEXT_COUNTS_FORMATS_H
#define MAGIC_TRACE_CLI_TEXT_COUNTS_FORMATS_H

#include "output/export/export.h"
#include "output/report/trace_window.h"

#include <stdbool.h>

/* Their names and help; `write` is NULL. */
extern const struct export_format export_callgrind, export_lcov, export_bolt, export_autofdo;

/* Writes the counts of the part of the recording `path` to `output`; "-" is standard output. */
bool counts_format_write(const struct export_format *format, const char *path,
                         const struct report_tree_options *moments, const char *output,
                         struct error *error);

#endif
