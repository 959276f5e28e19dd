#include "engine/translator/transcode/suspended_calls.h"

#include <string.h>

enum {
    MOST_STACKS = 1024,
    /* Bytes that code may pop between the loads of the stack pointer by which a stack is left and resumed. */
    POPPED = 64,
};

struct entry {
    struct suspended_stack stack;
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
    return (struct suspended_calls){.stacks = array_of(sizeof(struct entry))};
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

void suspended_calls_add(struct suspended_calls *suspended, const struct pt_encoder *encoder,
                         uint64_t pointer)
{
    const struct pt_calls *calls = &encoder->calls;
    uint64_t known = encoder->depth - calls->base, room = calls->mask + 1;
    struct entry added = {
        .stack = {pointer, encoder->last_psb},
        .all = calls->all && known <= room,
        .calls = array_of(sizeof(struct pt_call)),
    };
    if (known == 0)
        return;
    for (uint64_t left = known < room ? known : room; left > 0; left--)
        *(struct pt_call *)array_add(&added.calls) = *pt_calls_at(calls, encoder->depth - left);
    forget_overlapping(suspended, &added);
    if (suspended->stacks.count == MOST_STACKS)
        remove_at(suspended, 0);
    *(struct entry *)array_add(&suspended->stacks) = added;
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

bool suspended_calls_take(struct suspended_calls *suspended, struct pt_encoder *encoder,
                          uint64_t pointer, struct suspended_stack *left)
{
    size_t index = find(suspended, pointer);
    if (index == suspended->stacks.count)
        return false;
    const struct entry *entry = entry_at(suspended, index);
    pt_encoder_know_calls(encoder, entry->calls.elements, entry->calls.count, entry->all);
    *left = entry->stack;
    remove_at(suspended, index);
    return true;
}
