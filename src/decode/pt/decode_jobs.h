/* Decodes the streams of a recording on several processor cores.
 *
 * Workers take one PSB segment (psb_segment.h) after the other and keep its events until their turn
 * comes. A job is a unit whose events are passed on in order: one thread's stream, or all
 * processors' streams together, because a thread's events may come from any of them. The result
 * does not depend on the number of workers. Called by flow_decode.
 */
#ifndef MAGIC_TRACE_DECODE_PT_DECODE_JOBS_H
#define MAGIC_TRACE_DECODE_PT_DECODE_JOBS_H

#include "decode/pt/decoder.h"
#include "decode/pt/trace_stream.h"

struct decode_request {
    const struct perf_data *data;
    const struct address_spaces *spaces;
    const struct trace_streams *streams;
    struct decoder_shared *shared;
    const struct flow_sink *sink;
    const struct flow_options *options;
    const struct flow_observer *observer; /* NULL: none. With an observer only one core decodes */
};

/* Adds to `statistics`. */
void decode_all(const struct decode_request *request, struct flow_statistics *statistics);

#endif
