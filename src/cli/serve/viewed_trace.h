/* The trace that is to be shown in a browser, with its index: read, decoded or found. */
#ifndef MAGIC_TRACE_CLI_SERVE_VIEWED_TRACE_H
#define MAGIC_TRACE_CLI_SERVE_VIEWED_TRACE_H

#include "base/error.h"
#include "counts/source_heat.h"
#include "index/trace_index.h"

struct viewed_trace {
    struct trace_index *index;        /* owned */
    char *name;                       /* for people; owned */
    char *file;                       /* of the trace; NULL: a recording was decoded; owned */
    struct line_counter line_counter; /* of a recording that can be decoded again; owned */
};

/* `path`: a trace file or a recording (span_input.h). Says how far it has come; takes long the
 * first time, and is quick when the index is there. */
bool viewed_trace_open(struct viewed_trace *trace, const char *path, struct error *error);
/* The same without inlined functions, of which no index is kept. */
bool viewed_trace_open_called(struct viewed_trace *trace, const char *path, struct error *error);
void viewed_trace_close(struct viewed_trace *trace);

#endif
