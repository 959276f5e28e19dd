/* The consumer of flow events, and what is counted on the way to it: the arguments of every decoder
 * besides its input.
 *
 * Filled by the caller of flow_decode (flow.h); passed to the decoder that the recording needs.
 */
#ifndef MAGIC_TRACE_DECODE_FLOW_SINK_H
#define MAGIC_TRACE_DECODE_FLOW_SINK_H

#include "decode/flow_event.h"
#include "decode/stack_sample.h"
#include "recording/perf_data/perf_data_reader.h"
#include "recording/perf_script/perf_text.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Receives the events of one thread. All calls for one thread come from one decoding thread at a
 * time, in order; different threads may be decoded at the same time. `events` is valid during the
 * call only. */
struct flow_sink {
    void *context;
    /* Returns the sink's own object for `thread`, which `events` and `end` get back. `thread` is
     * valid until flow_decode returns. */
    void *(*begin)(void *context, const struct thread *thread);
    void (*events)(void *thread_object, const struct flow_event *events, size_t count);
    /* In place of `events`, if the recording has samples and no packets. NULL: they are dropped. */
    void (*sample)(void *thread_object, const struct stack_sample *sample);
    void (*end)(void *thread_object);
};

struct flow_statistics {
    uint64_t bytes; /* of PT, of samples or of text */
    uint64_t instructions;
    uint64_t events;
    uint64_t errors; /* gaps of kind ERROR and NO_IMAGE */
    uint64_t overflows;
    bool sampled;          /* recorded by samples; else it has packets or is text */
    uint64_t samples;      /* that were followed */
    uint64_t cut_samples;  /* not all of whose callers are known */
    uint64_t lost_samples; /* and other lost records */
    uint64_t text_lines;   /* 0: it is not text */
    struct perf_text_statistics text;
};

#endif
