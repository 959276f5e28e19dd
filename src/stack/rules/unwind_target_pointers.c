#include "stack/rules/unwind_target_pointers.h"

/* What a program lands in is few places; what lands anywhere would fill the memory. */
enum { TOLD_LIMIT = 4096 };

/* With the pointer 0 when none is known. */
static struct landing_place place_of(const struct array *told, frame_id frame)
{
    size_t index = array_find_key(told, frame);
    const struct told_landing *landings = told->elements;
    if (index == told->count || landings[index].frame != frame)
        return (struct landing_place){0};
    return landings[index].place;
}

void told_landings_note(struct thread_stack *stack, uint64_t address)
{
    struct array *told = &stack->told_landings;
    if (stack->move.to == 0 || stack->leaf == FRAME_NONE)
        return;
    if (told->count == TOLD_LIMIT)
        told->count = 0;
    size_t index = array_find_key(told, stack->leaf);
    bool known = place_of(told, stack->leaf).pointer != 0;
    struct told_landing *landing = known ? array_at(told, index) : array_insert(told, index);
    *landing = (struct told_landing){stack->leaf, {address, stack->move.to}};
}

struct landing_range told_landings_range(const struct thread_stack *stack, frame_id leaf,
                                         struct landing_place landed)
{
    struct landing_range range = {0, SIZE_MAX, SIZE_MAX};
    bool handler_left = false;
    if (landed.pointer == 0 || stack->told_landings.count == 0)
        return range;
    frame_id id = leaf;
    for (size_t i = 0; thread_stack_frame(stack, id)->kind != FRAME_PLACEHOLDER; i++) {
        struct landing_place told = place_of(&stack->told_landings, id);
        if (told.pointer == landed.pointer)
            return (struct landing_range){i, i + 1, SIZE_MAX};
        if (told.pointer != 0 && told.pointer < landed.pointer && !handler_left)
            range.first = told.address == landed.address ? i + 1 : i;
        handler_left = handler_left || thread_stack_frame(stack, id)->kind == FRAME_SIGNAL;
        id = thread_stack_parent(stack, id);
    }
    return range;
}
