#include "stack/frame_starts.h"

#include "base/memory.h"

#include <stdlib.h>

enum { FIRST_SLOT_COUNT = 64 };

static struct known_starts *allocate_slots(uint32_t count)
{
    return memory_allocate_zeroed(count * sizeof(struct known_starts));
}

void frame_starts_init(struct frame_starts *starts)
{
    *starts = (struct frame_starts){
        .slots = allocate_slots(FIRST_SLOT_COUNT),
        .slot_count = FIRST_SLOT_COUNT,
        .listed = array_of(sizeof(struct listed_start)),
    };
}

void frame_starts_free(struct frame_starts *starts)
{
    free(starts->slots);
    array_free(&starts->listed);
    *starts = (struct frame_starts){0};
}

static void grow(struct frame_starts *starts)
{
    struct frame_starts old = *starts;
    starts->slot_count *= 2;
    starts->slots = allocate_slots(starts->slot_count);
    for (uint32_t i = 0; i < old.slot_count; i++)
        if (old.slots[i].count > 0)
            *frame_starts_slot(starts, old.slots[i].function) = old.slots[i];
    free(old.slots);
}

/* Frames nearly always come in the order of their ids. */
static void list(struct frame_starts *starts, uint32_t frame, uint64_t start)
{
    size_t index = array_find_key(&starts->listed, frame);
    *(struct listed_start *)array_insert(&starts->listed, index) =
        (struct listed_start){frame, start};
}

unsigned frame_starts_add(struct frame_starts *starts, uint32_t frame, function_id function,
                          uint64_t start)
{
    struct known_starts *slot = frame_starts_slot(starts, function);
    for (uint32_t i = 0; i < slot->count; i++)
        if (slot->starts[i] == start)
            return i;
    if (slot->count == FRAME_START_CHOICES) {
        list(starts, frame, start);
        return FRAME_START_LISTED;
    }
    if (slot->count == 0 && starts->used_count++ >= starts->slot_count / 2) {
        grow(starts);
        slot = frame_starts_slot(starts, function);
    }
    slot->function = function;
    slot->starts[slot->count] = start;
    return slot->count++;
}

uint64_t frame_starts_listed(const struct frame_starts *starts, uint32_t frame)
{
    size_t index = array_find_key(&starts->listed, frame);
    return ((const struct listed_start *)array_at(&starts->listed, index))->start;
}
