/* Decodes the streams of a recording on several processor cores.
 *
 * Workers take one slice (psb_segment.h) after the other and keep what comes of it until its turn has
 * come. A job is what has to be passed on in order: the events of one thread's stream, or of all
 * processors' streams together, because a thread's events may come from any of them. What comes out
 * does not depend on how many workers there are. Called by flow_decode.
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
    const struct flow_observer *observer; /* NULL: none. With one, one core decodes */
};

/* Adds to `statistics`. */
void decode_all(const struct decode_request *request, struct flow_statistics *statistics);

#endif
