#include "stack/open_functions.h"

#include "base/memory.h"

#include <stdlib.h>

enum { FIRST_SLOT_COUNT = 64 };

static struct open_function *allocate_slots(uint32_t count)
{
    return memory_allocate_zeroed(count * sizeof(struct open_function));
}

void open_functions_init(struct open_functions *open)
{
    *open = (struct open_functions){.slots = allocate_slots(FIRST_SLOT_COUNT),
                                    .slot_count = FIRST_SLOT_COUNT};
}

void open_functions_free(struct open_functions *open)
{
    free(open->slots);
    *open = (struct open_functions){0};
}

/* The slot of `function`, or the free one where it belongs. */
static struct open_function *find_slot(const struct open_functions *open, function_id function)
{
    /* Ids are dense: neighbours in the table are neighbours in the object, which spreads them well
     * enough when they are multiplied by an odd constant (Knuth's 2^32 / golden ratio). */
    uint32_t index = function * UINT32_C(2654435769);
    for (;; index++) {
        struct open_function *slot = &open->slots[index & (open->slot_count - 1)];
        if (!slot->used || slot->function == function)
            return slot;
    }
}

static void grow(struct open_functions *open)
{
    struct open_functions old = *open;
    open->slot_count *= 2;
    open->slots = allocate_slots(open->slot_count);
    for (uint32_t i = 0; i < old.slot_count; i++)
        if (old.slots[i].used)
            *find_slot(open, old.slots[i].function) = old.slots[i];
    free(old.slots);
}

void open_functions_add(struct open_functions *open, function_id function)
{
    struct open_function *slot = find_slot(open, function);
    if (!slot->used) {
        if (open->used_count >= open->slot_count / 2) {
            grow(open);
            slot = find_slot(open, function);
        }
        *slot = (struct open_function){.function = function, .used = 1};
        open->used_count++;
    }
    slot->count++;
}

void open_functions_remove(struct open_functions *open, function_id function)
{
    find_slot(open, function)->count--;
}

uint32_t open_functions_count(const struct open_functions *open, function_id function)
{
    return find_slot(open, function)->count;
}
