#include "output/fxt/slot_recycler.h"

#include "base/memory.h"

#include <stdlib.h>

void slot_recycler_init(struct slot_recycler *recycler, uint32_t capacity)
{
    *recycler = (struct slot_recycler){
        .links = memory_allocate_zeroed((capacity + 1) * sizeof(struct slot_link)),
        .capacity = capacity,
        .unordered = capacity - capacity / 8 - 1,
    };
}

void slot_recycler_free(struct slot_recycler *recycler)
{
    free(recycler->links);
}

uint32_t slot_recycler_take(struct slot_recycler *recycler)
{
    struct slot_link *links = recycler->links;
    if (recycler->used == recycler->capacity) {
        uint32_t oldest = links[0].newer;
        slot_recycler_touch(recycler, oldest);
        return oldest;
    }
    uint32_t slot = ++recycler->used;
    uint16_t newest = links[0].older;
    links[slot] = (struct slot_link){.newer = 0, .older = newest};
    links[newest].newer = (uint16_t)slot;
    links[0].older = (uint16_t)slot;
    return slot;
}
