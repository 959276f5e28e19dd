/* The flow events of a recording whose packets stock perf decodes
 * (recording/perf_script/perf_script.h).
 *
 * perf reports taken branches; mappings, code and symbols are read as for our own decoder
 * (queue_decoder.h). Called by flow_decode in place of decode_all.
 */
#ifndef MAGIC_TRACE_DECODE_PERF_PERF_DECODER_H
#define MAGIC_TRACE_DECODE_PERF_PERF_DECODER_H

#include "decode/flow_options.h"
#include "decode/flow_sink.h"
#include "decode/pt/trace_stream.h"
#include "recording/perf_script/perf_script.h"

/* All borrowed. */
struct perf_decode_request {
    const struct perf_script_request *script;
    const struct perf_data *data;
    const struct address_spaces *spaces;
    const struct trace_streams *streams;
    struct symbols *symbols;
    const struct flow_sink *sink;
    const struct flow_options *options;
};

/* Adds to `statistics`. False if perf cannot be run or has decoded nothing. If it failed later, or
 * its output was cut off, `damage` says so; the sink has got everything before. */
bool perf_decode_all(const struct perf_decode_request *request, struct flow_statistics *statistics,
                     struct error *damage, struct error *error);

/* As perf_decode_all, of a stream of branches (branch_stream.h) from any descriptor, which stays
 * the caller's. Returns the number of branches and errors read. `request->script` is not used. */
uint64_t perf_decode_stream(const struct perf_decode_request *request, int descriptor,
                            struct flow_statistics *statistics, struct error *damage);

#endif
