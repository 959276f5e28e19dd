#include "stack/history.h"

#include "base/memory.h"

#include <stdlib.h>

static const uint64_t pause_maximum = UINT64_MAX >> HISTORY_KIND_BITS;

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

/* Short histories stay in the first chunk, which may be smaller. */
static void add_chunk(struct history *history)
{
    size_t size = HISTORY_CHUNK_SIZE * sizeof(uint64_t);
    bool is_first = history->chunks.count == 0;
    history->free = is_first ? memory_allocate(size) : memory_allocate_to_fill(size);
    history->free_end = history->free + HISTORY_CHUNK_SIZE;
    *(uint64_t **)array_add(&history->chunks) = history->free;
}

static void add_packed(struct history *history, uint64_t packed)
{
    if (history->free == history->free_end)
        add_chunk(history);
    *history->free++ = packed;
    history->count++;
}

static void add_pause(struct history *history, uint64_t ticks)
{
    while (ticks > 0) {
        uint64_t part = ticks < pause_maximum ? ticks : pause_maximum;
        add_packed(history, part << HISTORY_KIND_BITS | HISTORY_PAUSE);
        ticks -= part;
    }
}

void history_add_slowly(struct history *history, struct ticks time, enum history_kind kind,
                        uint32_t frame)
{
    if (history->count == 0)
        history->first = history->last = time;
    uint64_t delta = time.value > history->last.value ? time.value - history->last.value : 0;
    history->last.value += delta;
    if (delta > history_delta_maximum) {
        add_pause(history, delta);
        delta = 0;
    }
    add_packed(history, history_step_of(kind, frame) | delta << HISTORY_KIND_BITS);
}

struct history_cursor history_cursor_of(const struct history *history)
{
    return (struct history_cursor){.history = history, .time = history->first};
}

bool history_next_chunk(struct history_cursor *cursor)
{
    const struct history *history = cursor->history;
    size_t number = cursor->next_chunk;
    if (number == history->chunks.count)
        return false;
    cursor->next_chunk++;
    cursor->at = *(uint64_t **)array_at(&history->chunks, number);
    cursor->end = cursor->next_chunk == history->chunks.count ? history->free
                                                              : cursor->at + HISTORY_CHUNK_SIZE;
    return true;
}
