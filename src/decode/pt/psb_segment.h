/* Cuts the packets of a recording into PSB segments, which can be decoded independently of each
 * other.
 *
 * A PSB segment begins at a PSB, where the packets give all that a decoder has to know: where
 * execution is, in which mode, at which time; and earlier calls no longer matter. It ends with the
 * PSB+ of the next PSB segment. The cuts depend on the packets alone, so the result does not depend
 * on the number of processor cores.
 *
 * Called by decode_plan.c, once per trace segment (trace_stream.h).
 */
#ifndef MAGIC_TRACE_DECODE_PT_PSB_SEGMENT_H
#define MAGIC_TRACE_DECODE_PT_PSB_SEGMENT_H

#include "base/array.h"
#include "base/clock.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct psb_segment {
    size_t start, stop; /* offsets of PSBs in the trace segment, or its begin and end */
    struct ticks time;  /* at `start`; 0 at the beginning of the trace segment */
};

/* Adds the PSB segments of a trace segment to `psb_segments`, at least one. With `timed` false
 * (there are no TSC packets) it adds only one. */
void psb_segments_cut(struct array *psb_segments, const uint8_t *bytes, size_t size, bool timed);

#endif
