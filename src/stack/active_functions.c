#include "stack/active_functions.h"

#include "base/memory.h"

#include <stdlib.h>

enum { FIRST_SLOT_COUNT = 128 };

static struct active_function *allocate_slots(uint32_t count)
{
    return memory_allocate_zeroed(count * sizeof(struct active_function));
}

void active_functions_init(struct active_functions *open)
{
    *open = (struct active_functions){.slots = allocate_slots(FIRST_SLOT_COUNT),
                                      .slot_count = FIRST_SLOT_COUNT};
}

void active_functions_free(struct active_functions *open)
{
    free(open->slots);
    *open = (struct active_functions){0};
}

static void grow(struct active_functions *open)
{
    struct active_functions old = *open;
    open->slot_count *= 2;
    open->slots = allocate_slots(open->slot_count);
    for (uint32_t i = 0; i < old.slot_count; i++)
        if (old.slots[i].key != 0)
            *active_functions_slot(open, old.slots[i].key - 1) = old.slots[i];
    free(old.slots);
}

void active_functions_add_new(struct active_functions *open, function_id function, bool is_gogo)
{
    if (open->used_count >= open->slot_count / 4)
        grow(open);
    *active_functions_slot(open, function) = (struct active_function){function + 1, 0, is_gogo};
    open->used_count++;
    open->has_gogo |= is_gogo;
}
