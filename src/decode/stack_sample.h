/* A thread's call stack at one moment: what a recording without packets consists of.
 *
 * Made by sampled_flow.h, and passed to a flow_sink in place of flow events, in the order of time.
 */
#ifndef MAGIC_TRACE_DECODE_STACK_SAMPLE_H
#define MAGIC_TRACE_DECODE_STACK_SAMPLE_H

#include "base/clock.h"
#include "symbol/symbols.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sampled_frame {
    function_id function;
    uint64_t address; /* the next instruction; of a frame that has called another: an address in
                       * the call. 0: unknown */
    uint64_t stack_pointer; /* while the frame runs, or has called; 0: unknown */
};

enum stack_sample_kind {
    STACK_SAMPLE,      /* `frames` are active */
    STACK_NOT_RUNNING, /* from here on the thread does not run, until the next sample */
    STACK_EXEC,        /* its process executes another program */
};

struct stack_sample {
    enum stack_sample_kind kind;
    struct ticks time;
    /* Of STACK_SAMPLE, the outermost first, at least one. Valid during the call only. */
    const struct sampled_frame *frames;
    size_t count;
    /* The callers of frames[0] are unknown: they may be those of the sample before. */
    bool cut;
    function_id callers; /* shown in their place where they stay unknown, and says why;
                          * FUNCTION_UNKNOWN: their place stays empty */
};

#endif
