/* The bytes of a trace file, in order, decompressed if they are gzip.
 *
 * Used by the trace parser. Plain or gzip is told by the first two bytes, not by the name. A pipe
 * is copied to an unnamed temporary file first, so that every input can be read again.
 */
#ifndef MAGIC_TRACE_OUTPUT_TRACE_INPUT_H
#define MAGIC_TRACE_OUTPUT_TRACE_INPUT_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct trace_input;

/* NULL when the file cannot be opened. */
struct trace_input *trace_input_open(const char *path, struct error *error);
void trace_input_close(struct trace_input *input);

/* Goes back to the first byte. */
bool trace_input_rewind(struct trace_input *input, struct error *error);

/* The next `size` bytes, at most 64 KiB, valid until the next call. NULL at the end and on damage:
 * then *got says how many bytes there still are (they are not consumed), and error->code is
 * ERROR_NONE when the input just ends. */
const uint8_t *trace_input_take(struct trace_input *input, size_t size, size_t *got,
                                struct error *error);

/* Bytes taken so far (of the decompressed trace). */
uint64_t trace_input_offset(const struct trace_input *input);

const char *trace_input_path(const struct trace_input *input);

#endif
