/* The bytes of a trace file, in order, decompressed if they are gzip.
 *
 * Used by fxt_records.h. The first two bytes show whether it is gzip, not the name. A pipe is
 * copied to an unnamed temporary file first, so that every input can be read again.
 *
 * The file is read, not mapped: that is as fast, and a file that is truncated meanwhile just ends,
 * where a mapping would raise SIGBUS.
 */
#ifndef MAGIC_TRACE_OUTPUT_FXT_TRACE_INPUT_H
#define MAGIC_TRACE_OUTPUT_FXT_TRACE_INPUT_H

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

/* What comes next, in memory: at least `least` bytes (64 KiB or less) unless the input ends before.
 * They are not consumed, and valid until the next call. */
struct trace_bytes {
    const uint8_t *at; /* aligned to 8 as long as multiples of 8 are consumed */
    size_t size;
};
struct trace_bytes trace_input_look(struct trace_input *input, size_t least);

/* Consumes `size` bytes of what was looked at. */
void trace_input_advance(struct trace_input *input, size_t size);

/* Why there are fewer bytes than were asked for: ERROR_NONE when the input just ends. */
const struct error *trace_input_ended_by(const struct trace_input *input);

/* Bytes consumed so far (of the decompressed trace). */
uint64_t trace_input_offset(const struct trace_input *input);

const char *trace_input_path(const struct trace_input *input);

#endif
