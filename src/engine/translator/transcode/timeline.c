#include "engine/translator/transcode/timeline.h"

enum {
    RATE_BITS = 24,
    COUNTED_START = 1 << 20, /* perf takes time 0 for "no time" */
    COUNTED_SYSTEM_CALL = 1000,
};

void timeline_begin(struct timeline *timeline, bool counts_instructions, uint64_t start)
{
    *timeline = (struct timeline){
        .counts_instructions = counts_instructions,
        .from = counts_instructions && start == 0 ? COUNTED_START : start,
        .until = UINT64_MAX,
        .rate = (uint64_t)1 << RATE_BITS,
    };
}

static uint64_t executed_since(const struct timeline *timeline, uint64_t instructions)
{
    return instructions > timeline->from_instructions ? instructions - timeline->from_instructions
                                                      : 0;
}

/* Where two times are known the first may be later than the second: a clock that was read by
 * different processors, or a log that was tampered with. */
void timeline_pass(struct timeline *timeline, uint64_t time, uint64_t instructions)
{
    timeline->logged = time;
    if (!timeline->counts_instructions)
        timeline_pass_part(timeline, time, instructions);
}

/* Of a damaged log it may be larger than any. */
static uint64_t rate_of(uint64_t ticks, uint64_t instructions)
{
    double rate = (double)ticks / (double)instructions * (1 << RATE_BITS);
    return rate < 0x1p63 ? (uint64_t)rate : UINT64_C(1) << 63;
}

void timeline_pass_part(struct timeline *timeline, uint64_t time, uint64_t instructions)
{
    uint64_t executed = executed_since(timeline, instructions);
    if (timeline->from == 0)
        timeline->from = time > executed ? time - executed : 1;
    uint64_t passed = time > timeline->from ? time - timeline->from : 0;
    if (executed > 0)
        timeline->rate = rate_of(passed, executed);
    timeline->until = time;
}

void timeline_limit(struct timeline *timeline, uint64_t time)
{
    timeline->until = time;
}

bool timeline_reaches(const struct timeline *timeline, uint64_t time, uint64_t instructions)
{
    unsigned __int128 passed =
        ((unsigned __int128)executed_since(timeline, instructions) * timeline->rate) >> RATE_BITS;
    return timeline->from + passed >= time;
}

void timeline_pass_unknown(struct timeline *timeline)
{
    timeline->until = UINT64_MAX;
}

void timeline_set(struct timeline *timeline, uint64_t time, uint64_t instructions)
{
    if (timeline->counts_instructions)
        return;
    timeline->from = time > timeline->latest ? time : timeline->latest;
    timeline->from_instructions = instructions;
    timeline->until = UINT64_MAX;
}

void timeline_pause(struct timeline *timeline, uint64_t until, uint64_t instructions)
{
    timeline_set(timeline, until, instructions);
    timeline_at(timeline, instructions);
}

void timeline_system_call(struct timeline *timeline)
{
    if (timeline->counts_instructions)
        timeline->from += COUNTED_SYSTEM_CALL;
}

uint64_t timeline_at(struct timeline *timeline, uint64_t instructions)
{
    uint64_t time, executed = executed_since(timeline, instructions);
    if (timeline->counts_instructions) {
        time = timeline->from + executed;
    } else {
        unsigned __int128 passed = ((unsigned __int128)executed * timeline->rate) >> RATE_BITS;
        uint64_t most = timeline->until > timeline->from ? timeline->until - timeline->from : 0;
        time = timeline->from + (passed < most ? (uint64_t)passed : most);
    }
    if (time > timeline->latest)
        timeline->latest = time;
    return timeline->latest;
}

void timeline_new_code(struct timeline *timeline, uint64_t instructions)
{
    if (!timeline->counts_instructions)
        return;
    if (executed_since(timeline, instructions) == 0)
        timeline->from++;
    else
        timeline->latest = timeline_at(timeline, instructions) + 1;
}
