/* How often each function is on a thread's stack just now.
 *
 * Asked before the stack is searched: when the answer is 0 nothing is searched, and when it is not,
 * the search ends at a frame to which the stack is then cut. So searches cost no more than the
 * calls that made the frames they pass, however deep the stack and however strange the control
 * flow.
 *
 * A hash table with open addressing (linear probing); functions are never removed, only counted
 * down.
 */
#ifndef MAGIC_TRACE_STACK_OPEN_FUNCTIONS_H
#define MAGIC_TRACE_STACK_OPEN_FUNCTIONS_H

#include "symbol/symbols.h"

#include <stdint.h>

struct open_function {
    function_id function;
    uint32_t count;
    uint8_t used; /* the slot holds a function */
};

struct open_functions {
    struct open_function *slots; /* owned */
    uint32_t slot_count;         /* a power of two */
    uint32_t used_count;
};

void open_functions_init(struct open_functions *open);
void open_functions_free(struct open_functions *open);

void open_functions_add(struct open_functions *open, function_id function);
void open_functions_remove(struct open_functions *open, function_id function);
uint32_t open_functions_count(const struct open_functions *open, function_id function);

#endif
