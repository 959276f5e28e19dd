/* The flow driver: from a recording to the flow events of each of its threads.
 *
 * Called by stack/timeline. Opens perf.data, builds address spaces and symbols, cuts the AUX data
 * into one stream per thread and decodes the streams on several processor cores. The decoder behind
 * it is private to this room (decoder.h; docs/decoding.md).
 *
 * A recording can also consist of samples with call stacks (sampled_flow.h), which are no flow
 * events but told as they are; ticks are then nanoseconds.
 *
 * A recording can also be text: what perf script printed of one (text_flow.h). Then there are no
 * address spaces, no session and no perf data, all these are empty; ticks are nanoseconds.
 */
#ifndef MAGIC_TRACE_DECODE_FLOW_H
#define MAGIC_TRACE_DECODE_FLOW_H

#include "base/error.h"
#include "decode/flow_options.h"
#include "decode/flow_sink.h"
#include "decode/flow_step.h"
#include "decode/text/text_code.h"
#include "image/address_space.h"
#include "recording/perf_data/perf_data_reader.h"
#include "recording/session.h"
#include "symbol/symbols.h"

#include <stddef.h>

/* Owns perf data, address spaces and symbols, which the receivers' results point into. */
struct flow;

/* `path` is a recording directory, whose first snapshot is decoded, a perf.data file, or text; of
 * the last two also a pipe, or "-" for standard input. NULL when nothing could be decoded at all;
 * damage that left something to decode is reported by flow_damage. */
struct flow *flow_open(const char *path, const struct flow_options *options, struct error *error);
bool flow_decode(struct flow *flow, const struct flow_sink *sink, struct error *error);
void flow_close(struct flow *flow);

/* Tells `observer` every step of the recording, decoded by our own decoder once more; nothing when
 * it is text. */
void flow_steps(const struct flow *flow, const struct flow_observer *observer);

/* Whether flow_open would take `path` for text. Reads from regular files only. */
bool flow_is_text(const char *path);

/* Whether it has samples and no packets. */
bool flow_is_sampled(const struct flow *flow);
/* Whether the samples of this event are the call stacks that are told. */
bool flow_follows_event(const struct flow *flow, uint32_t event);

struct symbols *flow_symbols(const struct flow *flow);
const struct address_spaces *flow_address_spaces(const struct flow *flow);
/* What text tells of a process's code; NULL when the recording is no text. */
const struct text_code *flow_text_code(const struct flow *flow, uint32_t pid);
const struct perf_data *flow_perf_data(const struct flow *flow);
/* Appends what it tells beside the control flow, struct trace_mark, as trace_marks_find does; of
 * text what decoding has met. */
void flow_marks(const struct flow *flow, struct array *marks);
/* The wall clock (Unix nanoseconds) at `time` of the perf records' clock; 0 when the recording does
 * not tell, as with instructions for a clock. */
uint64_t flow_wall_clock(const struct flow *flow, struct nanoseconds time);
/* The signal that ended the thread's process in this thread; false when none did, or nobody says.
 */
bool flow_death(const struct flow *flow, uint32_t pid, uint32_t tid, struct session_death *death);
/* What session.json says; all zero without one. Valid until flow_close. */
const struct session *flow_session(const struct flow *flow);
struct flow_statistics flow_statistics(const struct flow *flow);
/* NULL when the file is whole, and all of it was decoded. */
const struct error *flow_damage(const struct flow *flow);
/* What a FLOW_GAP_ERROR's `error` means, in words. */
const char *flow_error_text(uint8_t error);

#endif
