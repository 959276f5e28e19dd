/* The flow driver: from a recording to the flow events of each of its threads.
 *
 * Called by stack/timeline. Opens perf.data, builds address spaces and symbols, cuts the AUX data
 * into one stream per thread and decodes the streams on several processor cores. The decoder is
 * private to this module (decoder.h; docs/decoding.md).
 *
 * A recording can also consist of samples with call stacks (sampled_flow.h), which go to the sink
 * as stack samples in place of flow events; ticks are then nanoseconds.
 *
 * A recording can also be text: what perf script printed of one (text_flow.h). Then address spaces,
 * session and perf data are empty; ticks are nanoseconds.
 */
#ifndef MAGIC_TRACE_DECODE_FLOW_H
#define MAGIC_TRACE_DECODE_FLOW_H

#include "base/error.h"
#include "decode/call_value_text.h"
#include "decode/flow_options.h"
#include "decode/flow_sink.h"
#include "decode/flow_step.h"
#include "decode/text/text_code.h"
#include "image/address_space.h"
#include "recording/perf_data/perf_data_reader.h"
#include "recording/session.h"
#include "symbol/symbols.h"

#include <stddef.h>

/* Owns perf data, address spaces and symbols, to which the sinks' results point. */
struct flow;

/* `path` is a recording directory, whose first snapshot is decoded, a perf.data file, or text;
 * perf.data and text may also be a pipe, or "-" for standard input. NULL if nothing can be decoded;
 * flow_damage reports damage that left something to decode. */
struct flow *flow_open(const char *path, const struct flow_options *options, struct error *error);
bool flow_decode(struct flow *flow, const struct flow_sink *sink, struct error *error);
void flow_close(struct flow *flow);

/* Decodes the recording again with our own decoder and reports every step to `observer`; does
 * nothing for text. */
void flow_steps(const struct flow *flow, const struct flow_observer *observer);

/* Whether flow_open would treat `path` as text. Reads from regular files only. */
bool flow_is_text(const char *path);

/* Whether several events may have one time though time passed between them: of text, which has the
 * times of packets, or whole microseconds. */
bool flow_has_coarse_times(const struct flow *flow);

/* Whether the recording has samples and no packets. */
bool flow_is_sampled(const struct flow *flow);
/* Whether it is a snapshot, so that threads may have run before. Of a recording without session that is not known: false. */
bool flow_is_snapshot(const struct flow *flow);
/* Whether the samples of this event are the call stacks that the sink gets. */
bool flow_follows_event(const struct flow *flow, uint32_t event);

/* Whether inlined functions are looked for: in packets, unless the options say otherwise. */
bool flow_finds_inlined(const struct flow *flow);

struct symbols *flow_symbols(const struct flow *flow);
const struct address_spaces *flow_address_spaces(const struct flow *flow);
/* What the text shows of a process's code; NULL if the recording is not text. */
const struct text_code *flow_text_code(const struct flow *flow, uint32_t pid);
const struct perf_data *flow_perf_data(const struct flow *flow);
/* Recorded arguments and result of a call: see call_values_read_groups. */
bool flow_read_call_values(const struct flow *flow, struct recorded_group arguments,
                           struct recorded_group result, struct arena *memory,
                           struct named_values *read);
/* Appends the trace's marks, struct trace_mark, as trace_marks_find does; of text those that
 * decoding has found. */
void flow_marks(const struct flow *flow, struct array *marks);
/* The wall clock (Unix nanoseconds) at `time` of the perf records' clock; 0 if the recording does
 * not say, as with instructions for a clock. */
uint64_t flow_wall_clock(const struct flow *flow, struct nanoseconds time);
/* The signal that ended the thread's process in this thread; false if none did, or the recording
 * does not say.
 */
bool flow_death(const struct flow *flow, uint32_t pid, uint32_t tid, struct session_death *death);
/* The contents of session.json; all zero without one. Valid until flow_close. */
const struct session *flow_session(const struct flow *flow);
struct flow_statistics flow_statistics(const struct flow *flow);
/* NULL if the file is complete and all of it was decoded. */
const struct error *flow_damage(const struct flow *flow);
/* What a FLOW_GAP_ERROR's `error` means, as text. */
const char *flow_error_text(uint8_t error);

#endif
