/* A trace in the formats of other tools.
 *
 * Called by `magic-trace export`. Each format has a file of its own, export_NAME.c, with one
 * function that reads a span source to its end and puts what it becomes into a block writer. None
 * holds the trace in memory, and all keep times exact to the nanosecond. What a format has no place
 * for is told at its function.
 */
#ifndef MAGIC_TRACE_OUTPUT_EXPORT_H
#define MAGIC_TRACE_OUTPUT_EXPORT_H

#include "base/error.h"
#include "output/block_writer.h"
#include "stack/span.h"

#include <stdbool.h>
#include <stdint.h>

/* What was exported, for the words to the person. */
struct export_summary {
    uint64_t spans, instants, counters;
};

struct export_format {
    const char *name;
    const char *suffix; /* of a file in this format: ".json" */
    bool gzip;          /* always compressed, whatever the file is called */
    /* `name` is that of the trace. False when the source failed; then what came before is in `out`.
     * That writing fails is told by block_writer_finish. */
    bool (*write)(struct span_source *source, const char *name, struct block_writer *out,
                  struct export_summary *summary, struct error *error);
};

/* NULL when there is none of that name. */
const struct export_format *export_format_find(const char *name);

/* All formats, ended by NULL. */
const struct export_format *const *export_format_all(void);

/* Reads `source` to its end and writes it to `path`; "-" is standard output. A file is compressed
 * when its name ends in ".gz". On failure there is no new file, and an old one is untouched.
 * `summary` is filled on success. */
bool export_write(const struct export_format *format, struct span_source *source, const char *name,
                  const char *path, struct export_summary *summary, struct error *error);

extern const struct export_format export_chrome, export_perfetto, export_folded, export_speedscope,
    export_pprof, export_csv;

#endif
