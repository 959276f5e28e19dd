/* Decodes the streams of a recording on several processor cores.
 *
 * A job is what must be decoded in order: one thread's stream, or all processors' streams together,
 * because a thread's events may come from any of them. Workers take the largest job first. What
 * comes out does not depend on how many workers there are. Called by flow_decode.
 */
#ifndef MAGIC_TRACE_FLOW_DECODE_JOBS_H
#define MAGIC_TRACE_FLOW_DECODE_JOBS_H

#include "flow/decoder.h"
#include "flow/trace_stream.h"

struct decode_request {
    const struct perf_data *data;
    const struct address_spaces *spaces;
    const struct trace_streams *streams;
    struct decoder_shared *shared;
    const struct flow_sink *sink;
    const struct flow_options *options;
};

/* Adds to `statistics`. False when something could not be decoded for want of memory; what the sink
 * got is valid. */
bool decode_all(const struct decode_request *request, struct flow_statistics *statistics,
                struct error *error);

#endif
