#include "engine/translator/transcode/past_clock.h"

#include "runtime/translator/log/clock_state.h"

struct past_clock past_clock_begin(const struct tr_control *control)
{
    /* First the clock: if it runs, the history has the entry of the work before. */
    uint64_t state = atomic_load(&control->clock);
    struct past_clock clock = {
        .history = &control->clock_history,
        .number = atomic_load(&control->clock_history.count),
        .stolen = state,
        .limit = UINT64_MAX,
    };
    if (tr_clock_stands(state)) {
        clock.stolen = atomic_load(&control->stolen);
        clock.limit = tr_clock_standing(state, control->options.start_tsc);
    }
    return clock;
}

uint64_t past_clock_time(struct past_clock *clock, uint64_t tsc)
{
    const struct tr_clock_history *history = clock->history;
    for (; clock->number > 0; clock->number--) {
        uint64_t number = clock->number - 1, entry = number % TR_CLOCK_HISTORY;
        uint64_t at = atomic_load(&history->entries[entry].tsc);
        uint64_t stolen = atomic_load(&history->entries[entry].stolen);
        clock->ends = atomic_load(&history->count) > number + TR_CLOCK_HISTORY;
        if (clock->ends)
            break;
        if (at == 0) /* being written */
            continue;
        clock->stolen = stolen;
        if (at <= tsc)
            break;
        /* This work ended after `tsc`: the clock cannot have shown more before. */
        clock->limit = at - stolen;
        if (number == 0) /* before all work */
            clock->stolen = 0;
    }
    uint64_t time = tsc - clock->stolen;
    return time < clock->limit ? time : clock->limit;
}
