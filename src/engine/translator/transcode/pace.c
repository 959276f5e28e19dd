#include "engine/translator/transcode/pace.h"

#include <stddef.h>

/* Of the time at a place between two stamps, in ticks: more precision is not worth a packet. */
static const double unevenness = 96;

static struct way_place *place_of(const struct pt_block_run *run)
{
    return (struct way_place *)(void *)((char *)(uintptr_t)run - offsetof(struct way_place, run));
}

void pace_init(struct pace *pace)
{
    *pace = (struct pace){.ticks_per_instruction = 1};
}

double pace_expect(const struct pace *pace, const struct pt_block_run *const *runs, size_t count,
                   uint64_t instructions)
{
    double sum = 0;
    int64_t others =
        (int64_t)instructions; /* not of edges: less than 0 where the last edge is not over */
    for (size_t i = 0; i < count; i++) {
        struct way_place *place = place_of(runs[i]);
        if (place->ticks == 0)
            place->ticks = (float)(pace->ticks_per_instruction * place->run.instructions);
        sum += place->ticks;
        others -= place->run.instructions;
    }
    return sum + (others > 0 ? pace->ticks_per_instruction * (double)others : 0);
}

double pace_learn(struct pace *pace, const struct pt_block_run *const *runs, size_t count,
                  uint64_t instructions, double ticks, double expected)
{
    enum { MOST = 16, SLOWLY = 8 };
    if (!(expected > 0) || instructions == 0)
        return 0;
    double ratio = ticks / expected;
    ratio = ratio > MOST ? MOST : ratio < 1.0 / MOST ? 1.0 / MOST : ratio;
    float step = (float)(ratio > 1 ? 1 + (ratio - 1) / 4 : 1 / (1 + (1 / ratio - 1) / 4));
    double now = expected * ratio / (double)instructions;
    pace->ticks_per_instruction += (now - pace->ticks_per_instruction) / SLOWLY;
    /* Where the estimates are about right, every fourth interval is enough. */
    if (++pace->interval % 4 != 0 && ratio > 0.5 && ratio < 2)
        return ticks / expected;
    for (size_t i = 0; i < count; i++) {
        struct way_place *place = place_of(runs[i]);
        if (place->run.mark == pace->interval)
            continue;
        place->run.mark = pace->interval;
        place->ticks *= step;
    }
    return ticks / expected / (double)step;
}

struct pace_part pace_next_part(const struct pt_block_run *const *runs, size_t count, double scale,
                                double most)
{
    struct pace_part part = {0};
    double off = 0;
    for (; part.count < count && (part.count == 0 || part.ticks < most); part.count++) {
        const struct way_place *place = place_of(runs[part.count]);
        double ticks = scale * (double)place->ticks;
        double even = part.instructions
                          ? part.ticks / (double)part.instructions * place->run.instructions
                          : ticks;
        off += ticks - even;
        if (off > unevenness || off < -unevenness)
            break;
        part.ticks += ticks;
        part.instructions += place->run.instructions;
    }
    return part;
}
