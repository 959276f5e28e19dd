#include "stack/rules/unwind_target_pointers.h"

#include "stack/rules/stack_pointer.h"

/* Programs have few unwind targets; without a limit, damaged data would fill the memory. */
enum { REPORTED_LIMIT = 4096 };

/* The pointer is 0 if unknown. */
static struct unwind_place place_of(const struct array *reported, frame_id frame)
{
    size_t index = array_find_key(reported, frame);
    const struct unwind_target_pointer *unwind_targets = reported->elements;
    if (index == reported->count || unwind_targets[index].frame != frame)
        return (struct unwind_place){0};
    return unwind_targets[index].place;
}

void unwind_target_pointers_note(struct thread_stack *stack, uint64_t address)
{
    struct array *reported = &stack->rules.unwind_target_pointers->reported;
    if (stack_pointer_move(stack).to == 0 || stack->leaf == FRAME_NONE)
        return;
    if (reported->count == REPORTED_LIMIT)
        reported->count = 0;
    size_t index = array_find_key(reported, stack->leaf);
    bool known = place_of(reported, stack->leaf).pointer != 0;
    struct unwind_target_pointer *unwind_target =
        known ? array_at(reported, index) : array_insert(reported, index);
    *unwind_target =
        (struct unwind_target_pointer){stack->leaf, {address, stack_pointer_move(stack).to}};
}

struct unwind_range unwind_target_pointers_range(const struct thread_stack *stack, frame_id leaf,
                                                 struct unwind_place landed)
{
    struct unwind_range range = {0, SIZE_MAX, SIZE_MAX};
    bool handler_left = false;
    if (landed.pointer == 0 || stack->rules.unwind_target_pointers->reported.count == 0)
        return range;
    frame_id id = leaf;
    for (size_t i = 0; thread_stack_frame(stack, id)->kind != FRAME_PLACEHOLDER; i++) {
        struct unwind_place reported = place_of(&stack->rules.unwind_target_pointers->reported, id);
        if (reported.pointer == landed.pointer)
            return (struct unwind_range){i, i + 1, SIZE_MAX};
        if (reported.pointer != 0 && reported.pointer < landed.pointer && !handler_left)
            range.first = reported.address == landed.address ? i + 1 : i;
        handler_left = handler_left || thread_stack_frame(stack, id)->kind == FRAME_SIGNAL;
        id = thread_stack_parent(stack, id);
    }
    return range;
}

static void begin(struct thread_stack *stack)
{
    stack->rules.unwind_target_pointers->reported = array_of(sizeof(struct unwind_target_pointer));
}

static void end(struct thread_stack *stack)
{
    array_free(&stack->rules.unwind_target_pointers->reported);
}

const struct stack_rule unwind_target_pointers_rule = {
    .state_size = sizeof(struct unwind_target_pointers),
    .begin = begin,
    .end = end,
};
