/* A function and where it is in the source, as symbols.h finds them.
 */
#ifndef MAGIC_TRACE_SYMBOL_FUNCTION_H
#define MAGIC_TRACE_SYMBOL_FUNCTION_H

#include "image/code_owner.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* Index of a function in its `struct symbols`. Ids are dense and never reused. */
typedef uint32_t function_id;

enum {
    FUNCTION_UNKNOWN = 0,   /* "[unknown]": no mapping at all */
    FUNCTION_UNTRACED = 1,  /* "[untraced]": the processor stopped tracing, reason not seen */
    FUNCTION_SYSCALL = 2,   /* "[syscall]" */
    FUNCTION_INTERRUPT = 3, /* "[interrupt]": left by an asynchronous event: a signal, a fault */
    FUNCTION_FIRST = 4,     /* first of the real ones */
};

struct function {
    const char *name;   /* demangled; never NULL */
    const char *symbol; /* as in the symbol table; NULL for special and nameless functions */
    const char
        *object; /* path of the object, FUNCTION_JIT_OBJECT for JIT code; NULL for special ones */
    enum code_owner owner;
    bool inlined;        /* into others: see symbols_inlined */
    uint64_t start, end; /* addresses in the object (p_vaddr based; of JIT code: in the process),
                            end exclusive */
};

#define FUNCTION_JIT_OBJECT "[JIT]"

/* Whether a JIT compiler has made it. */
static inline bool function_is_jit_code(const struct function *function)
{
    return function->object != NULL && strcmp(function->object, FUNCTION_JIT_OBJECT) == 0;
}

/* Where a function begins, or an instruction is, in the source. */
struct source_line {
    const char *file; /* NULL when there is no debug information */
    uint32_t line;
};

/* What debug information says of a function, where it is written with its code. */
struct declared_function {
    const char *symbol;      /* of several at one address, the compiler's own; NULL: the symbol
                              * table alone has one, if it does */
    struct source_line name; /* where its name is: perhaps lines before its code begins */
};

#endif
