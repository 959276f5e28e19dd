/* How long each edge between fragments takes: learned from the times in the log.
 *
 * Between two time stamps run some hundred edges of unlike work: an addition takes a fraction of a nanosecond, a string
 * instruction may take a microsecond. Instruction counts alone would give a memcpy's time to the loop beside it. So each
 * edge (ways.h) has an estimate, in ticks. The sum of the estimates between two stamps is compared with the time that
 * passed, and all of them are moved a little towards it: an edge that is in the intervals that take long gets a higher
 * one, because those without it bring the others' back.
 *
 * Decoders spread the time between two packets evenly over the instructions between them. So edges are cut into parts
 * while they are read from the log: the edges of a part take about the same time per instruction.
 */
#ifndef MAGIC_TRACE_ENGINE_TRANSLATOR_PACE_H
#define MAGIC_TRACE_ENGINE_TRANSLATOR_PACE_H

#include "engine/translator/transcode/way.h"

struct pace {
    double ticks_per_instruction; /* of late, all edges together */
    uint16_t interval;            /* counts those that were learned from */
};

void pace_init(struct pace *pace);

/* Some edges in a row. */
struct pace_part {
    size_t count;
    uint64_t instructions;
    double ticks; /* by the estimates */
};

/* A part to which edges are added for as long as they fit. */
struct pace_cut {
    struct pace_part part;
    float off; /* ticks by which the time at its end is off where all its edges are taken as even */
};

/* Ticks by which a time within a part may be off. The second makes fewer packets, for programs that wait for them. */
#define PACE_PRECISE 48.0F
#define PACE_QUICK 144.0F

/* Adds an edge. False: the part would be uneven, and another one begins. */
static inline bool pace_goes_on(struct pace_cut *cut, const struct pt_block_run *run,
                                float unevenness)
{
    float ticks = way_run_of(run)->ticks, even = ticks;
    uint32_t instructions = run->instructions;
    if (cut->part.instructions > 0)
        even = (float)cut->part.ticks / (float)(int64_t)cut->part.instructions *
               (float)(int32_t)instructions;
    float off = cut->off + (ticks - even);
    if (off > unevenness || off < -unevenness)
        return false;
    cut->off = off;
    cut->part.count++;
    cut->part.instructions += instructions;
    cut->part.ticks += (double)ticks;
    return true;
}

/* The first part of `count` edges, one at least. */
struct pace_part pace_next_part(const struct pt_block_run *const *runs, size_t count,
                                float unevenness);

/* The first edges of a part up to the one that reaches `ticks` by the estimates; all if none does. */
struct pace_part pace_until(const struct pt_block_run *const *runs, size_t count, double ticks);

/* What edges of `instructions` that take `ticks` by the estimates take together with what else ran: `all` instructions. */
double pace_expect(const struct pace *pace, double ticks, uint64_t instructions, uint64_t all);

/* The `count` edges, and what else ran, `instructions` in all, took `ticks` and not `expected`. Returns whether this is of
 * use: then the estimates so far are to be multiplied by ticks / expected to make that time. */
bool pace_learn(struct pace *pace, const struct pt_block_run *const *runs, size_t count,
                uint64_t instructions, double ticks, double expected);

#endif
