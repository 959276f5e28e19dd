/* Inlined functions by their number, as symbols.h finds them.
 */
#ifndef MAGIC_TRACE_SYMBOL_INLINED_H
#define MAGIC_TRACE_SYMBOL_INLINED_H

#include "symbol/function.h"

#include <stdint.h>

/* Each time that a function is inlined somewhere has a number of its own, dense, never reused.
 * INLINED_NONE: the code is that of the function itself. */
typedef uint32_t inlined_id;

enum { INLINED_NONE = 0 };

/* A function that was inlined into another at one place. Inlined functions have ids of their own,
 * which differ from that of the same function where it is called. */
struct inlined {
    function_id function;
    inlined_id outer; /* the one that it was inlined into; INLINED_NONE: the function itself */
    uint32_t depth;   /* of INLINED_NONE: 0 */
    struct source_line call; /* where it is called, as debug information names the file */
};

#endif
