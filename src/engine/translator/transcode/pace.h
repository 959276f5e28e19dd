/* How long each edge between fragments takes: learned from the times in the log.
 *
 * Between two time stamps run some hundred edges of unlike work: an addition takes a fraction of a nanosecond, a string
 * instruction may take a microsecond. Instruction counts alone would give a memcpy's time to the loop beside it. So each
 * edge (ways.h) has an estimate, in ticks. The sum of the estimates between two stamps is compared with the time that
 * passed, and all of them are moved a little towards it: an edge that is in the intervals that take long gets a higher
 * one, because those without it bring the others' back.
 */
#ifndef MAGIC_TRACE_ENGINE_TRANSLATOR_PACE_H
#define MAGIC_TRACE_ENGINE_TRANSLATOR_PACE_H

#include "engine/translator/transcode/ways.h"

struct pace {
    double ticks_per_instruction; /* of late, all edges together */
    uint16_t interval;            /* counts those that were learned from */
};

void pace_init(struct pace *pace);

/* What `count` edges, and what else ran, `instructions` in all, take by the estimates, in ticks. */
double pace_expect(const struct pace *pace, const struct pt_block_run *const *runs, size_t count,
                   uint64_t instructions);

/* They took `ticks` and not `expected`. Returns what the new estimates are to be multiplied by to make that time; 0: this
 * is not known. */
double pace_learn(struct pace *pace, const struct pt_block_run *const *runs, size_t count,
                  uint64_t instructions, double ticks, double expected);

/* A part of the edges, all of which take about the same time per instruction. */
struct pace_part {
    size_t count;
    uint64_t instructions;
    double ticks; /* expected */
};

/* The first part of `count` edges, one at least. `scale`: what the estimates are multiplied by. It ends with the edge that
 * reaches `most` ticks. */
struct pace_part pace_next_part(const struct pt_block_run *const *runs, size_t count, double scale,
                                double most);

#endif
