#include "stack/history.h"

#include "base/memory.h"

#include <stdlib.h>

enum { KIND_BITS = 5, DELTA_BITS = 27 };

static const uint64_t kind_mask = (UINT64_C(1) << KIND_BITS) - 1;
static const uint64_t delta_maximum = (UINT64_C(1) << DELTA_BITS) - 1;
static const uint64_t pause_maximum = UINT64_MAX >> KIND_BITS;

_Static_assert(HISTORY_KIND_COUNT <= 1 << KIND_BITS, "a kind must fit its bits");

void history_init(struct history *history)
{
    *history = (struct history){.chunks = array_of(sizeof(uint64_t *))};
}

void history_free(struct history *history)
{
    for (size_t i = 0; i < history->chunks.count; i++)
        free(*(uint64_t **)array_at(&history->chunks, i));
    array_free(&history->chunks);
    history_init(history);
}

static void add_packed(struct history *history, uint64_t packed)
{
    uint64_t index = history->count++;
    if (index >> HISTORY_CHUNK_SHIFT == history->chunks.count)
        *(uint64_t **)array_add(&history->chunks) =
            memory_allocate(HISTORY_CHUNK_SIZE * sizeof(uint64_t));
    uint64_t *chunk = *(uint64_t **)array_at(&history->chunks, index >> HISTORY_CHUNK_SHIFT);
    chunk[index & (HISTORY_CHUNK_SIZE - 1)] = packed;
}

static void add_pause(struct history *history, uint64_t ticks)
{
    while (ticks > 0) {
        uint64_t part = ticks < pause_maximum ? ticks : pause_maximum;
        add_packed(history, part << KIND_BITS | HISTORY_PAUSE);
        ticks -= part;
    }
}

void history_add(struct history *history, struct ticks time, enum history_kind kind, uint32_t frame)
{
    if (history->count == 0)
        history->first = history->last = time;
    uint64_t delta = time.value > history->last.value ? time.value - history->last.value : 0;
    history->last.value += delta;
    if (delta > delta_maximum) {
        add_pause(history, delta);
        delta = 0;
    }
    add_packed(history, (uint64_t)frame << (KIND_BITS + DELTA_BITS) | delta << KIND_BITS | kind);
}

struct history_cursor history_cursor_of(const struct history *history)
{
    return (struct history_cursor){.history = history, .time = history->first};
}

static uint64_t packed_at(const struct history *history, uint64_t index)
{
    uint64_t *chunk = *(uint64_t **)array_at(&history->chunks, index >> HISTORY_CHUNK_SHIFT);
    return chunk[index & (HISTORY_CHUNK_SIZE - 1)];
}

bool history_next(struct history_cursor *cursor, struct history_step *step)
{
    while (cursor->next < cursor->history->count) {
        uint64_t packed = packed_at(cursor->history, cursor->next++);
        enum history_kind kind = (enum history_kind)(packed & kind_mask);
        if (kind == HISTORY_PAUSE) {
            cursor->time.value += packed >> KIND_BITS;
            continue;
        }
        cursor->time.value += packed >> KIND_BITS & delta_maximum;
        *step = (struct history_step){
            .time = cursor->time,
            .kind = kind,
            .frame = (uint32_t)(packed >> (KIND_BITS + DELTA_BITS)),
        };
        return true;
    }
    return false;
}
