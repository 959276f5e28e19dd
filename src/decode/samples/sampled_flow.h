/* A recording that has samples with call stacks and no packets: perf record -g, and ours with
 * -sampling.
 *
 * One kind of event is followed: the first that tells of time (cycles, cpu-clock), on all kinds of
 * cores that the machine has; else the first that no tracepoint or breakpoint makes. Samples of
 * others are marks (stack/spans/sample_spans.h). A thread is taken not to run from where it was switched
 * off its processor, if the recording tells that (PERF_RECORD_SWITCH) and it lasted for a period of
 * sampling at least; and where samples are missing for much longer than a period, from one period
 * behind the last one on.
 *
 * Called by flow.c. Ticks are nanoseconds.
 */
#ifndef MAGIC_TRACE_DECODE_SAMPLES_SAMPLED_FLOW_H
#define MAGIC_TRACE_DECODE_SAMPLES_SAMPLED_FLOW_H

#include "decode/flow_options.h"
#include "decode/flow_sink.h"

/* Whether it was recorded by samples that can be followed, of which there may be none, and not by
 * packets. */
bool sampled_flow_recognizes(const struct perf_data *data);

/* All is borrowed. */
struct sampled_flow_request {
    const struct perf_data *data;
    const struct address_spaces *spaces;
    struct symbols *symbols;
    const struct flow_sink *sink;
    const struct flow_options *options;
    bool stitch; /* of stacks that the processor remembered (LBR), those that were too deep may be
                    completed from the one before */
};

/* Adds to `statistics`. */
void sampled_flow_decode(const struct sampled_flow_request *request,
                         struct flow_statistics *statistics);

/* Whether samples of this event are followed, so that they are no marks. */
bool sampled_flow_follows(const struct perf_data *data, uint32_t event);

#endif
