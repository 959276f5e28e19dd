/* Reads a trace file back: ours, one of Jane Street's magic-trace, or any other in the Fuchsia
 * trace format.
 *
 * Called by the commands that read a trace, and by the viewer. The file is read twice: first to
 * learn threads, names and whether its events are in time order, then for its events, which come in
 * batches. A trace in time order (ours) takes memory for its names only; another is held in memory,
 * 64 bytes per event while it is sorted. Plain and gzip, also of several members; a pipe is copied
 * to a temporary file first.
 *
 * Understood: duration begin, end and complete events, instants, process and thread names, the wall
 * clock as fxt_writer.h writes it, counters. Asynchronous events, flows, scheduling and unknown
 * records are skipped. Spans that do not nest are changed: an end without a begin is ignored, a
 * span without an end is closed where its parent or the trace ends, a complete event is cut where
 * its parent ends. The rows of deep frames that fxt_writer makes are put back into their thread.
 *
 * Specification: https://fuchsia.dev/fuchsia-src/reference/tracing/trace-format
 */
#ifndef MAGIC_TRACE_OUTPUT_FXT_FXT_READER_H
#define MAGIC_TRACE_OUTPUT_FXT_FXT_READER_H

#include "base/error.h"
#include "stack/spans/span.h"

/* NULL when the file cannot be opened or is no trace. A damaged trace yields everything before the
 * damage, all active spans are closed, and then next() fails with an error that names the file and
 * the offset. */
struct span_source *fxt_read(const char *path, struct error *error);

#endif
