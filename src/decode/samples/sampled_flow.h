/* A recording that has samples with call stacks and no packets: perf record -g, and ours with
 * -sampling.
 *
 * One event supplies the stacks: the first that measures time (cycles, cpu-clock), on all kinds of
 * cores that the machine has; else the first that is neither a tracepoint nor a breakpoint. Samples
 * of other events are marks (stack/spans/sample_spans.h). A thread counts as not running while it
 * is switched off its processor, if the recording has PERF_RECORD_SWITCH and the pause is at least
 * one sampling period long; and where samples are missing for much longer than a period, from one
 * period after the last one on. Where samples have no times, each takes a period, and the threads' times have
 * nothing to do with each other.
 *
 * Called by flow.c. Ticks are nanoseconds.
 */
#ifndef MAGIC_TRACE_DECODE_SAMPLES_SAMPLED_FLOW_H
#define MAGIC_TRACE_DECODE_SAMPLES_SAMPLED_FLOW_H

#include "decode/flow_options.h"
#include "decode/flow_sink.h"

/* Whether the recording has samples that can be followed (perhaps of an event that never occurred)
 * and no packets. */
bool sampled_flow_recognizes(const struct perf_data *data);

/* All borrowed. */
struct sampled_flow_request {
    const struct perf_data *data;
    const struct address_spaces *spaces;
    struct symbols *symbols;
    const struct flow_sink *sink;
    const struct flow_options *options;
    bool stitch; /* a stack of LBR entries that was too deep for the processor may be completed
                  * by the one before */
};

/* Adds to `statistics`. */
void sampled_flow_decode(const struct sampled_flow_request *request,
                         struct flow_statistics *statistics);

/* Whether samples of this event supply the stacks, and so are not marks. */
bool sampled_flow_follows(const struct perf_data *data, uint32_t event);

#endif
