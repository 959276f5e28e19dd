#include "engine/translator/transcode/pauses.h"

enum { EARLIER = 10 * 1000 * 1000 }; /* by this part of a second */

void pauses_init(struct pauses *pauses)
{
    *pauses = (struct pauses){.all = array_of(sizeof(struct pause))};
}

void pauses_free(struct pauses *pauses)
{
    array_free(&pauses->all);
}

void pauses_clear(struct pauses *pauses)
{
    pauses->all.count = pauses->next = pauses->last = 0;
}

void pauses_find(struct pauses *pauses, struct off_cpu *off_cpu, const struct tr_slot *slot,
                 uint64_t tsc_hz, uint64_t from, uint64_t until)
{
    uint64_t earlier = tsc_hz / EARLIER;
    struct off_cpu_period period;
    while (off_cpu_next(off_cpu, slot->tid, from, until, &period)) {
        struct pause *pause = array_add(&pauses->all);
        period.pid = slot->pid;
        *pause = (struct pause){.begin = period.out - from > earlier ? period.out - earlier : from,
                                .end = period.in,
                                .period = period};
        from = period.in;
    }
    pauses->last = pauses->all.count;
}

const struct pause *pauses_get(const struct pauses *pauses, size_t index)
{
    return array_at(&pauses->all, index);
}

const struct pause *pauses_next(const struct pauses *pauses)
{
    return pauses->next < pauses->last ? pauses_get(pauses, pauses->next) : NULL;
}

uint64_t pauses_to_come(const struct pauses *pauses)
{
    uint64_t time = 0;
    for (size_t i = pauses->next; i < pauses->last; i++)
        time += pauses_get(pauses, i)->end - pauses_get(pauses, i)->begin;
    return time;
}

size_t pauses_at(const struct pauses *pauses, uint64_t time)
{
    size_t index = pauses->next;
    while (index < pauses->all.count && pauses_get(pauses, index)->end < time)
        index++;
    return index;
}
