/* The auxiliary vector, which the kernel puts after the arguments and the environment on a program's first stack
 * (getauxval(3)).
 *
 * Called at the start of a process. */
#ifndef MAGIC_TRACE_RUNTIME_TRANSLATOR_AUXILIARY_VECTOR_H
#define MAGIC_TRACE_RUNTIME_TRANSLATOR_AUXILIARY_VECTOR_H

#include <linux/auxvec.h>
#include <stddef.h>
#include <stdint.h>

/* The first entry of the kind: kind, value. NULL: none. */
static inline uint64_t *tr_auxiliary_entry(uint64_t *stack, uint64_t kind)
{
    uint64_t *at = stack + 1 + stack[0] + 1;
    while (*at)
        at++;
    for (at++; at[0] != AT_NULL; at += 2)
        if (at[0] == kind)
            return at;
    return NULL;
}

#endif
