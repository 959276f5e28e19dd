/* How every report ends: what was printed must have arrived, and the source's error is passed on.
 */
#ifndef MAGIC_TRACE_OUTPUT_REPORT_STREAM_H
#define MAGIC_TRACE_OUTPUT_REPORT_STREAM_H

#include "base/error.h"

#include <stdbool.h>
#include <stdio.h>

/* Flushes `stream`. False and `error` filled when the report could not be written or the source had
 * `ended` in an error. */
bool report_end(FILE *stream, const struct error *ended, struct error *error);

#endif
