/* One value, frequency or sleep state in a trace: see trace_marks.h.
 */
#ifndef MAGIC_TRACE_DECODE_TRACE_MARK_H
#define MAGIC_TRACE_DECODE_TRACE_MARK_H

#include "base/clock.h"

#include <stdint.h>

enum trace_mark_kind {
    TRACE_MARK_VALUE,     /* written by the program */
    TRACE_MARK_FREQUENCY, /* of the processor from now on, in MHz */
    TRACE_MARK_SLEEP,     /* the processor's C-state from now on; 0: it is awake */
};

struct trace_mark {
    enum trace_mark_kind kind;
    struct nanoseconds time; /* of perf's clock */
    uint32_t tid;            /* of the thread; UINT32_MAX: unknown, or a processor's */
    uint32_t cpu;            /* of the processor that wrote the packets; UINT32_MAX: a thread's */
    uint64_t value;
};

#endif
