/* A thread's call stack at one moment, as a sample tells it: what a recording without packets
 * consists of.
 *
 * Made by sampled_flow.h, and given to a flow_sink in place of flow events, in the order of time.
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
    uint64_t address; /* what runs next there; of a frame that has called another: in the call. 0:
                         not known */
    uint64_t stack_pointer; /* while it runs, or has called; 0: not known */
};

enum stack_sample_kind {
    STACK_SAMPLE,      /* `frames` run */
    STACK_NOT_RUNNING, /* from here on the thread does not run; the next sample ends that */
    STACK_EXEC,        /* its process becomes another program */
};

struct stack_sample {
    enum stack_sample_kind kind;
    struct ticks time;
    /* Of STACK_SAMPLE, the outermost first, at least one. Valid during the call only. */
    const struct sampled_frame *frames;
    size_t count;
    /* frames[0] was called by others, which are not known: they may be those of the sample before.
     */
    bool cut;
    function_id callers; /* stands for them where they stay unknown, and says why; FUNCTION_UNKNOWN:
                            nothing does */
};

#endif
