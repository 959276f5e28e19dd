#include "engine/translator/transcode/suspended_calls.h"

#include "base/usual_numbers.h"

#include <string.h>

enum {
    MOST_STACKS = 1024,
    /* Bytes that code may pop between the loads of the stack pointer by which a stack is left and resumed. */
    POPPED = 64,
};

struct entry {
    struct suspended_stack stack;
    uint32_t number;    /* 0: it has none */
    bool all;           /* the first call is the outermost one */
    struct array calls; /* struct pt_call, the outermost first; at least one */
};

static struct entry *entry_at(const struct suspended_calls *suspended, size_t index)
{
    return array_at(&suspended->stacks, index);
}

static void remove_at(struct suspended_calls *suspended, size_t index)
{
    struct entry *removed = entry_at(suspended, index);
    array_free(&removed->calls);
    suspended->stacks.count--;
    memmove(removed, removed + 1, (suspended->stacks.count - index) * sizeof *removed);
}

struct suspended_calls suspended_calls_none(void)
{
    return (struct suspended_calls){.stacks = array_of(sizeof(struct entry)),
                                    .distances = usual_numbers_none()};
}

void suspended_calls_forget(struct suspended_calls *suspended)
{
    while (suspended->stacks.count > 0)
        remove_at(suspended, suspended->stacks.count - 1);
}

void suspended_calls_free(struct suspended_calls *suspended)
{
    suspended_calls_forget(suspended);
    array_free(&suspended->stacks);
    array_free(&suspended->distances);
}

/* Where the return address of its outermost known call lies. */
static uint64_t highest(const struct entry *entry)
{
    return ((const struct pt_call *)array_at(&entry->calls, 0))->slot;
}

static void forget_overlapping(struct suspended_calls *suspended, const struct entry *added)
{
    for (size_t i = suspended->stacks.count; i-- > 0;) {
        const struct entry *older = entry_at(suspended, i);
        if (older->stack.pointer <= highest(added) && added->stack.pointer <= highest(older))
            remove_at(suspended, i);
    }
}

static struct entry entry_of(const struct pt_encoder *encoder, const struct suspended_stack *left)
{
    const struct pt_calls *calls = &encoder->calls;
    uint64_t known = encoder->depth - calls->base, room = calls->mask + 1;
    struct entry added = {
        .stack = *left,
        .all = calls->all && known <= room,
        .calls = array_of(sizeof(struct pt_call)),
    };
    for (uint64_t i = known < room ? known : room; i > 0; i--)
        *(struct pt_call *)array_add(&added.calls) = *pt_calls_at(calls, encoder->depth - i);
    return added;
}

static void add(struct suspended_calls *suspended, const struct entry *added)
{
    if (suspended->stacks.count == MOST_STACKS)
        remove_at(suspended, 0);
    *(struct entry *)array_add(&suspended->stacks) = *added;
}

void suspended_calls_add(struct suspended_calls *suspended, const struct pt_encoder *encoder,
                         const struct suspended_stack *left)
{
    if (encoder->depth == encoder->calls.base)
        return;
    struct entry added = entry_of(encoder, left);
    forget_overlapping(suspended, &added);
    add(suspended, &added);
}

/* Their count if not found. */
static size_t find_numbered(const struct suspended_calls *suspended, uint32_t number)
{
    size_t i = 0;
    while (i < suspended->stacks.count && entry_at(suspended, i)->number != number)
        i++;
    return i;
}

void suspended_calls_add_numbered(struct suspended_calls *suspended,
                                  const struct pt_encoder *encoder,
                                  const struct suspended_stack *left, uint32_t number)
{
    struct entry added = entry_of(encoder, left);
    size_t older = find_numbered(suspended, number);
    added.number = number;
    if (older < suspended->stacks.count)
        remove_at(suspended, older);
    add(suspended, &added);
}

/* Their count if not found. */
static size_t find(const struct suspended_calls *suspended, uint64_t pointer)
{
    size_t i = suspended->stacks.count;
    while (i-- > 0) {
        uint64_t left = entry_at(suspended, i)->stack.pointer;
        if (pointer >= left && pointer - left <= POPPED)
            return i;
    }
    return suspended->stacks.count;
}

bool suspended_calls_has(const struct suspended_calls *suspended, uint64_t pointer)
{
    return find(suspended, pointer) < suspended->stacks.count;
}

static bool take_at(struct suspended_calls *suspended, struct pt_encoder *encoder, size_t index,
                    struct suspended_stack *left)
{
    if (index == suspended->stacks.count)
        return false;
    const struct entry *entry = entry_at(suspended, index);
    pt_encoder_know_calls(encoder, entry->calls.elements, entry->calls.count, entry->all);
    *left = entry->stack;
    remove_at(suspended, index);
    return true;
}

bool suspended_calls_take(struct suspended_calls *suspended, struct pt_encoder *encoder,
                          uint64_t pointer, uint64_t code, struct suspended_stack *left)
{
    size_t index = find(suspended, pointer);
    if (index == suspended->stacks.count)
        return false;
    const struct suspended_stack *stack = &entry_at(suspended, index)->stack;
    if (usual_numbers_see(&suspended->distances, stack->code, code, pointer - stack->pointer))
        return take_at(suspended, encoder, index, left);
    remove_at(suspended, index);
    return false;
}

bool suspended_calls_take_numbered(struct suspended_calls *suspended, struct pt_encoder *encoder,
                                   uint32_t number, struct suspended_stack *left)
{
    return take_at(suspended, encoder, find_numbered(suspended, number), left);
}
