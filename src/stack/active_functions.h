/* How often each function is on a thread's current stack.
 *
 * Looked up before the stack is searched: at 0 there is no search, and otherwise the search ends at
 * a frame to which the stack is then cut. So searches cost no more than the calls that made the
 * frames they pass, however deep the stack and however unusual the control flow.
 *
 * A hash table with open addressing (linear probing); functions are never removed, only counted
 * down.
 */
#ifndef MAGIC_TRACE_STACK_ACTIVE_FUNCTIONS_H
#define MAGIC_TRACE_STACK_ACTIVE_FUNCTIONS_H

#include "symbol/symbols.h"

#include <stdbool.h>
#include <stdint.h>

struct active_function {
    uint32_t key; /* the function's id + 1; 0: the slot is free */
    uint32_t count : 31;
    uint32_t is_gogo : 1; /* see goroutines.h: looked up at each jump */
};

struct active_functions {
    struct active_function *slots; /* owned */
    uint32_t slot_count;           /* a power of two */
    uint32_t used_count;
    bool has_gogo; /* one of the functions is gogo */
};

void active_functions_init(struct active_functions *open);
void active_functions_free(struct active_functions *open);

/* The slot of `function`, or the free one for it. Ids are dense: neighbours in the table are
 * neighbours in the object. Multiplication by an odd constant (Knuth's 2^32 / golden ratio) spreads
 * them well enough. */
static inline struct active_function *active_functions_slot(const struct active_functions *open,
                                                            function_id function)
{
    uint32_t key = function + 1, index = function * UINT32_C(2654435769);
    struct active_function *slot;
    do
        slot = &open->slots[index++ & (open->slot_count - 1)];
    while (slot->key != key && slot->key != 0);
    return slot;
}

/* `function` must be in the table. */
static inline void active_functions_add(struct active_functions *open, function_id function)
{
    active_functions_slot(open, function)->count++;
}

static inline bool active_functions_knows(const struct active_functions *open, function_id function)
{
    return active_functions_slot(open, function)->key != 0;
}

/* Adds the function with a count of 0. */
void active_functions_add_new(struct active_functions *open, function_id function, bool is_gogo);

static inline void active_functions_remove(struct active_functions *open, function_id function)
{
    active_functions_slot(open, function)->count--;
}

static inline uint32_t active_functions_count(const struct active_functions *open,
                                              function_id function)
{
    return active_functions_slot(open, function)->count;
}

#endif
