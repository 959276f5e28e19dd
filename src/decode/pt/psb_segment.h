/* The packets of a recording, cut into slices that can be decoded independently of each other.
 *
 * A slice begins at a PSB, where the packets tell everything that a decoder has to know: where
 * execution is, in which mode, at which time; and calls before it are forgotten. It ends with what
 * the next slice's PSB tells. Where slices begin depends on the packets alone, so what comes out
 * does not depend on how many processor cores decode them.
 *
 * Called by decode_jobs.c, once per stretch (trace_stream.h).
 */
#ifndef MAGIC_TRACE_DECODE_PT_PSB_SEGMENT_H
#define MAGIC_TRACE_DECODE_PT_PSB_SEGMENT_H

#include "base/array.h"
#include "base/clock.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct psb_segment {
    size_t start, stop; /* offsets of PSBs in the stretch, or its beginning and its end */
    struct ticks time;  /* at `start`; 0 when that is the stretch's beginning */
};

/* Adds the slices of a stretch, struct psb_segment, to `slices`: at least one. With `timed` false (there
 * are no TSC packets) there is only one. */
void psb_segments_cut(struct array *psb_segments, const uint8_t *bytes, size_t size, bool timed);

#endif
