/* Writes spans as a trace file that Perfetto opens: the Fuchsia trace format (FXT).
 *
 * Called by the commands that make a trace. Events are written in the order of the source, which is
 * time order: Perfetto resolves string and thread references in file order and keeps the file's
 * order at equal times, so a trace in time order is read back unchanged. Numbers of the format are
 * in output/fxt/fxt_format.h.
 *
 * What is in a trace beyond names and times:
 *   - process and thread names with the real ids;
 *   - arguments of a span: address, symbol, file, line; inferred_start_time and inferred_end_time
 *     ("true") when the moment was not seen; across_gap ("true") when it was open before a gap and
 *     was found open after it; end ("tail call", "unwound", "gap", "end of trace",
 *     "exec") when the span did not end with a return; stack, a number, where one of the thread's
 *     stacks is suspended (end of its innermost span) or resumed (begin of its outermost); from 1 << 31 on
 *     it is the same stack in all threads;
 *   - category "special" on spans that are no function of the program, "library" and "kernel" on
 *     those of others' code, "inlined" on what the compiler put into its caller;
 *   - counters, named as in output/fxt/fxt_counter_text.h;
 *   - the wall clock, when the source knows it.
 * Perfetto keeps 512 open spans per thread. Deeper ones go to further rows of the same process,
 * named "NAME (frames 512-1023 of thread TID)"; output/fxt/fxt_reader.h puts them back.
 */
#ifndef MAGIC_TRACE_OUTPUT_FXT_FXT_WRITER_H
#define MAGIC_TRACE_OUTPUT_FXT_FXT_WRITER_H

#include "base/error.h"
#include "stack/spans/span.h"

#include <stdbool.h>
#include <stdint.h>

enum fxt_compression {
    FXT_COMPRESS_BY_SUFFIX, /* gzip when the path ends in ".gz" */
    FXT_COMPRESS_NONE,
    FXT_COMPRESS_GZIP,
};

/* What was written, for the message to the user. */
struct fxt_summary {
    uint64_t spans;
    uint64_t
        calls; /* of them: neither hits of the trigger nor times in which a thread was not running */
    uint64_t instants;
    struct nanoseconds first, last; /* times of the first and the last event; 0 in an empty trace */
};

/* All zero is a good choice. */
struct fxt_options {
    enum fxt_compression compression;
    uint64_t expected_spans;     /* for the progress line; 0: unknown */
    struct fxt_summary *summary; /* filled on success; NULL: not wanted */
};

/* Reads `source` to its end and writes it to `path` (see output/output_file.h for what happens to a
 * file that is already there). `options` may be NULL. On failure there is no new file and an old
 * one is untouched. The source stays the caller's, to be closed by it. */
bool fxt_write(struct span_source *source, const char *path, const struct fxt_options *options,
               struct error *error);

#endif
