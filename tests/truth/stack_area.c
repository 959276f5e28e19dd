#include "stack_area.h"

#include "base/memory.h"

#include <stdlib.h>

/* A block that leaves a stack may push a little onto it before; then RSP comes back to there. */
enum { PUSHED_BEFORE_SWITCH = 512 };

struct true_frame *stack_area_frame(const struct stack_area *area, size_t index)
{
    return array_at(&area->frames, index);
}

struct true_frame *stack_area_leaf(const struct stack_area *area)
{
    return stack_area_frame(area, area->frames.count - 1);
}

void stack_area_push(struct stack_area *area, uint64_t slot, true_node node)
{
    *(struct true_frame *)array_add(&area->frames) =
        (struct true_frame){.slot = slot, .node = node, .unseen = true};
}

void stack_area_push_standing(struct stack_area *area, uint64_t slot, true_node node)
{
    *(struct true_frame *)array_add(&area->frames) =
        (struct true_frame){.slot = slot, .node = node, .standing = true};
}

void stack_area_drop_standing(struct stack_area *area, uint64_t rsp)
{
    while (area->frames.count > 1 && stack_area_leaf(area)->standing &&
           stack_area_leaf(area)->slot <= rsp)
        area->frames.count--;
}

void stack_area_cut(struct stack_area *area, uint64_t rsp)
{
    while (area->frames.count > 1 && stack_area_leaf(area)->slot < rsp)
        area->frames.count--;
}

struct stack_area *stack_area_new(true_node node)
{
    struct stack_area *area = memory_allocate_zeroed(sizeof *area);
    area->frames = array_of(sizeof(struct true_frame));
    stack_area_push(area, UINT64_MAX, node);
    return area;
}

void stack_area_free(struct stack_area *area)
{
    array_free(&area->frames);
    free(area);
}

bool stack_area_covers(const struct stack_area *area, uint64_t rsp)
{
    return rsp >= area->suspended - PUSHED_BEFORE_SWITCH && rsp <= area->top;
}

void stack_area_move(struct stack_area *area, uint64_t distance)
{
    area->top += distance;
    area->suspended += distance;
    area->begun += distance;
    for (size_t i = 1; i < area->frames.count; i++)
        stack_area_frame(area, i)->slot += distance;
}
