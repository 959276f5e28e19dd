/* What decoding a recording has counted, as one JSON object on standard output: `decode -stats`.
 *
 * For programs that judge decoders: keys stay, new ones may come. docs/man/magic-trace-decode.1
 * lists them.
 */
#ifndef MAGIC_TRACE_CLI_DECODE_STATISTICS_H
#define MAGIC_TRACE_CLI_DECODE_STATISTICS_H

#include "stack/timeline.h"

#include <stdio.h>

/* Errors of writing stay with `stream`. */
void decode_statistics_print(const struct timeline *timeline, FILE *stream);

#endif
