/* What decode_jobs.h decodes, and to whom the events go. All is borrowed.
 */
#ifndef MAGIC_TRACE_DECODE_PT_DECODE_REQUEST_H
#define MAGIC_TRACE_DECODE_PT_DECODE_REQUEST_H

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

#endif
