/* The formats in which run, attach and decode write a trace: -format.
 *
 * A new one is a row in trace_format.c. `magic-trace export` has more (output/export/export.h).
 */
#ifndef MAGIC_TRACE_CLI_TRACE_FORMAT_H
#define MAGIC_TRACE_CLI_TRACE_FORMAT_H

#include "base/error.h"
#include "cli/options/options.h"
#include "stack/spans/span.h"

/* What a written file holds; what the format does not know stays as it was. */
struct trace_contents {
    uint64_t length; /* of the trace, in nanoseconds */
    uint64_t calls;
};

struct trace_format {
    const char *name;
    const char *default_output; /* the file's name without -output */
    const char *summary;        /* one line, for the help page */
    const char *manual;         /* for the man page: text as in cli/options/options.h */
    const char *contents;       /* what the file holds ("folded stacks"), for the message about it;
                                   NULL: a trace, which view and report open */
    /* Writes all spans of the source, about `expected` many, to the file; an old one becomes
     * FILE.old. */
    bool (*write)(struct span_source *source, uint64_t expected, const char *path,
                  struct trace_contents *contents, struct error *error);
};

/* The one that view, report and -serve show. */
extern const struct trace_format *const trace_format_default;

/* By number, from 0; NULL after the last. */
const struct trace_format *trace_format_at(size_t index);

/* -format: sets the const struct trace_format * at option->field. */
option_value_at trace_format_value_at;
option_apply trace_format_take;

#endif
