/* Spans of an imaginary program, as many as are asked for: the input of benchmarks of the stages
 * after the decoder.
 *
 * A program of 2000 functions with fixed callees is run by a fixed random walk, in one thread, with
 * addresses, symbols, files and lines as a real one has; now and then it takes longer than usual.
 * Used by trace_write and made_up_trace.
 */
#ifndef MAGIC_TRACE_BENCH_MADE_UP_SPANS_H
#define MAGIC_TRACE_BENCH_MADE_UP_SPANS_H

#include "stack/spans/span.h"

#include <stdint.h>

/* The caller's to close. */
struct span_source *made_up_spans(uint64_t spans);

#endif
