#include "runtime/qemu_plugin/clock_history.h"

void clock_history_add(struct qemu_clock_history *history, uint64_t tsc, uint64_t stolen)
{
    uint64_t at = atomic_fetch_add(&history->count, 1) % QEMU_CLOCK_THEFTS;
    struct qemu_clock_theft *theft = &history->thefts[at];
    /* A reader may meet an entry that is half new: without its time it is passed over. */
    atomic_store(&theft->tsc, 0);
    atomic_store(&theft->stolen, stolen);
    atomic_store(&theft->tsc, tsc);
}

uint64_t clock_history_time(const struct qemu_clock_history *history, uint64_t tsc)
{
    uint64_t count = atomic_load(&history->count);
    uint64_t kept = count < QEMU_CLOCK_THEFTS ? count : QEMU_CLOCK_THEFTS;
    uint64_t stolen = 0, limit = UINT64_MAX;
    for (uint64_t i = 1; i <= kept; i++) {
        const struct qemu_clock_theft *theft = &history->thefts[(count - i) % QEMU_CLOCK_THEFTS];
        uint64_t at = atomic_load(&theft->tsc);
        stolen = atomic_load(&theft->stolen);
        if (at == 0)
            continue;
        if (at <= tsc)
            break;
        /* The theft was over later: what is left of the time before it is all there was. */
        limit = at - stolen;
        if (i == count)
            stolen = 0; /* before the very first one */
    }
    uint64_t time = tsc - stolen;
    return time < limit ? time : limit;
}
