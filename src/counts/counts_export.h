/* Counts in the formats of other tools' profiles.
 *
 * Each format has a file of its own, export_NAME.c, whose header comment names the source of the
 * format and what it cannot represent. Called by `magic-trace export`.
 */
#ifndef MAGIC_TRACE_COUNTS_COUNTS_EXPORT_H
#define MAGIC_TRACE_COUNTS_COUNTS_EXPORT_H

#include "counts/line_counts.h"

#include <stdio.h>

struct counts_export {
    const struct code_counts *counts;
    const struct line_counts *lines;
    const char *command; /* of the program; NULL: unknown */
};

/* Write the whole; the caller looks for errors of the stream. */
void export_callgrind_write(const struct counts_export *export, FILE *stream);
void export_lcov_write(const struct counts_export *export, FILE *stream);
void export_bolt_write(const struct counts_export *export, FILE *stream);
void export_autofdo_write(const struct counts_export *export, FILE *stream);

#endif
