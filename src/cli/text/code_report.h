/* What is made of the counts of a recording's code: `report -annotate`, `report -source`, and the
 * exports of profiles.
 */
#ifndef MAGIC_TRACE_CLI_TEXT_CODE_REPORT_H
#define MAGIC_TRACE_CLI_TEXT_CODE_REPORT_H

#include "base/error.h"
#include "counts/source_listing.h"
#include "output/report/trace_window.h"
#include "stack/timeline.h"

#include <stdbool.h>

/* A recording whose code was counted. */
struct counted_recording {
    const struct flow *flow;
    struct flow *opened;       /* owned; NULL: `flow` is the timeline's */
    struct timeline *timeline; /* owned; NULL: no times were asked for */
    struct code_counts counts;
};

/* Decodes the recording and counts the part that `moments` names: two times, or one call of a
 * function. `calls_cost`: as in struct counted_part. False for what has no packets. On failure it is
 * closed already. */
bool counted_recording_open(struct counted_recording *counted, const char *path,
                            const struct report_tree_options *moments, bool calls_cost,
                            struct error *error);
void counted_recording_close(struct counted_recording *counted);

struct code_report_options {
    const char *annotate; /* a function; NULL: no annotation */
    const char *source;   /* a file or function; NULL: no source */
    char *root;           /* OLD=NEW of -source-root; owned; NULL: none */
    bool json; /* as JSON, of at most max_bytes, or any size when that is 0: of one of both */
    size_t max_bytes;
};

bool code_report_print(const char *path, const struct code_report_options *options,
                       const struct report_tree_options *moments, struct error *error);

#endif
