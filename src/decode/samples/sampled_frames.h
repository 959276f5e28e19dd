/* The call stack of one sample: from what the kernel recorded to functions, the outermost first.
 *
 * Frames of the kernel are on top of those of the program. Successive frames of the kernel without
 * a known name become one, "[kernel]". Where a saved stack cannot be unwound to its end, the sample
 * is `cut` and says why: "[callers not saved]".
 *
 * One per process; used by sampled_flow.c.
 */
#ifndef MAGIC_TRACE_DECODE_SAMPLES_SAMPLED_FRAMES_H
#define MAGIC_TRACE_DECODE_SAMPLES_SAMPLED_FRAMES_H

#include "base/array.h"
#include "decode/stack_sample.h"
#include "image/address_space.h"
#include "recording/perf_data/recorded_stack.h"
#include "symbol/eh_frame/stack_unwinder.h"

/* Names of code in no program; shared by all processes of a recording. */
struct sampled_names {
    struct symbols *symbols;
    function_id kernel; /* "[kernel]" */
    struct array ends;  /* struct named_end (private): why callers are missing */
};

struct sampled_names sampled_names_new(struct symbols *symbols);
void sampled_names_free(struct sampled_names *names);

struct sampled_frames {
    struct sampled_names *names; /* borrowed */
    struct address_space_cursor space;
    struct stack_unwinder *unwinder; /* NULL: no sample had a saved stack yet */
    struct array frames;             /* struct sampled_frame, of the newest sample */
    struct array unwound;            /* struct unwound_frame, of the newest sample */
    size_t most_calls; /* the greatest number of LBR entries in a sample: probably all that the
                        * processor has */
};

/* `process` may be NULL: its code is unknown. */
void sampled_frames_init(struct sampled_frames *frames, struct sampled_names *names,
                         const struct process *process);
void sampled_frames_free(struct sampled_frames *frames);

/* The stack of `record`, a SIDEBAND_SAMPLE, no earlier than the one before; valid until the next
 * one. False if there are no frames to show. */
bool sampled_frames_find(struct sampled_frames *frames, const struct perf_data *data,
                         const struct sideband_record *record, struct stack_sample *sample);

#endif
