/* What decoding a recording has counted, as one JSON object on standard output: `decode -stats`.
 *
 * For programs that judge decoders: keys stay, new ones may come. docs/man/magic-trace-decode.1
 * lists them.
 */
#ifndef MAGIC_TRACE_CLI_TEXT_DECODE_STATISTICS_H
#define MAGIC_TRACE_CLI_TEXT_DECODE_STATISTICS_H

#include "stack/timeline.h"

#include <stdio.h>

/* How long a stage takes. */
struct stage_seconds {
    double elapsed;
    double processor; /* of all cores together */
};

/* Since some moment; what a stage took is the difference of two. */
struct stage_seconds stage_seconds_now(void);
struct stage_seconds stage_seconds_since(struct stage_seconds start);

struct decode_stages {
    struct stage_seconds decoding; /* of packets to stacks */
    struct stage_seconds writing;  /* of the trace */
};

/* Branches are counted by decoding the timeline's recording once more. Errors of writing stay with
 * `stream`. */
void decode_statistics_print(const struct timeline *timeline, const struct decode_stages *stages,
                             FILE *stream);

#endif
