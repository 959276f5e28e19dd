#include "engine/translator/transcode/pace.h"

void pace_init(struct pace *pace)
{
    *pace = (struct pace){.ticks_per_instruction = 1};
}

struct pace_part pace_next_part(const struct pt_block_run *const *runs, size_t count,
                                float unevenness)
{
    struct pace_cut cut = {0};
    while (cut.part.count < count && pace_goes_on(&cut, runs[cut.part.count], unevenness))
        ;
    return cut.part;
}

struct pace_part pace_until(const struct pt_block_run *const *runs, size_t count, double ticks)
{
    struct pace_part part = {0};
    while (part.count < count && (part.count == 0 || part.ticks < ticks)) {
        const struct pt_block_run *run = runs[part.count++];
        part.ticks += (double)way_run_of(run)->ticks;
        part.instructions += run->instructions;
    }
    return part;
}

double pace_expect(const struct pace *pace, double ticks, uint64_t instructions, uint64_t all)
{
    /* The last edge need not be over. */
    uint64_t others = all > instructions ? all - instructions : 0;
    return ticks + pace->ticks_per_instruction * (double)others;
}

bool pace_learn(struct pace *pace, const struct pt_block_run *const *runs, size_t count,
                uint64_t instructions, double ticks, double expected)
{
    enum { MOST = 16, SLOWLY = 8 };
    if (!(expected > 0) || instructions == 0)
        return false;
    double ratio = ticks / expected;
    ratio = ratio > MOST ? MOST : ratio < 1.0 / MOST ? 1.0 / MOST : ratio;
    float step = (float)(ratio > 1 ? 1 + (ratio - 1) / 4 : 1 / (1 + (1 / ratio - 1) / 4));
    double now = expected * ratio / (double)instructions;
    pace->ticks_per_instruction += (now - pace->ticks_per_instruction) / SLOWLY;
    /* Where the estimates are about right, every fourth interval is enough. */
    if (++pace->interval % 4 != 0 && ratio > 0.5 && ratio < 2)
        return true;
    for (size_t i = 0; i < count; i++) {
        struct way_run *run = way_run_of(runs[i]);
        if (run->interval == pace->interval)
            continue;
        run->interval = pace->interval;
        run->ticks *= step;
    }
    return true;
}
