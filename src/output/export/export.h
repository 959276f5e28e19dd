/* A trace in the formats of other tools.
 *
 * Called by `magic-trace export`. Each format has a file of its own, export_NAME.c, with one
 * function that reads a span source to its end and writes the converted events into a block writer.
 * None holds the trace in memory, and all keep times exact to the nanosecond. The comment of each
 * function lists what its format cannot represent.
 */
#ifndef MAGIC_TRACE_OUTPUT_EXPORT_EXPORT_H
#define MAGIC_TRACE_OUTPUT_EXPORT_EXPORT_H

#include "base/error.h"
#include "output/block_writer.h"
#include "stack/spans/span.h"

#include <stdbool.h>
#include <stdint.h>

/* What was exported, for the message to the user. */
struct export_summary {
    uint64_t spans, instants, counters;
    /* Code not ERROR_NONE: the trace is damaged, and what came before the damage was exported. */
    struct error damage;
};

/* What is exported. */
struct export_trace {
    const char *name;
    struct span_source *source;
    const struct span_source *window; /* `source` if it is one of window_spans.h; else NULL */
};

/* The origin of times (-from, -to), when the first event is at `first`: the beginning of the whole
 * trace, of which a window may show the end. */
struct nanoseconds export_trace_origin(const struct export_trace *trace, struct nanoseconds first);

struct export_format {
    const char *name;
    const char *suffix;  /* of a file in this format: ".json" */
    const char *summary; /* one line, for the help page */
    const char *manual;  /* for the man page: text as in cli/options/options.h */
    bool gzip;           /* always compressed, whatever the file's name */
    /* Reads the source to its end. False when it failed other than by damage. block_writer_finish
     * reports failed writes. */
    bool (*write)(const struct export_trace *trace, struct block_writer *out,
                  struct export_summary *summary, struct error *error);
    /* Instead of `write`, where a format is not written from beginning to end: writes to
     * `descriptor`, which stays the caller's, what becomes the file `path`. */
    bool (*write_file)(const struct export_trace *trace, int descriptor, const char *path,
                       struct export_summary *summary, struct error *error);
};

/* Writes the trace to `path`; "-" is standard output. A file is compressed
 * when its name ends in ".gz". On failure there is no new file, and an old one is untouched.
 * `summary` is filled on success. */
bool export_write(const struct export_format *format, const struct export_trace *trace,
                  const char *path, struct export_summary *summary, struct error *error);

extern const struct export_format export_chrome, export_perfetto, export_folded, export_speedscope,
    export_pprof, export_csv;

#endif
