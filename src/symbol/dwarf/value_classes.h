/* In what kind of registers the ABI passes values of a type, by what debug information says the type consists of.
 *
 * Called by signatures.c. A type's class is unknown where debug information does not say enough (types that are only
 * declared, bit-fields without a name), or where gcc and clang do not agree; then it is not known either where what
 * follows it is passed.
 *
 * An empty class of C++ takes no register and no place on the stack. A class of C++ with nothing but bit-fields without a
 * name looks the same; gcc passes that in a register.
 *
 * Source: System V psABI for AMD64, 3.2.3 "Parameter Passing".
 */
#ifndef MAGIC_TRACE_SYMBOL_VALUE_CLASSES_H
#define MAGIC_TRACE_SYMBOL_VALUE_CLASSES_H

#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stdint.h>

enum {
    EIGHTBYTE = 8,
    EIGHTBYTES_MAX = 2, /* of a value in registers */
};

enum value_class {
    CLASS_NONE, /* padding; if both eightbytes are: it is not passed */
    CLASS_INTEGER,
    CLASS_SSE,
    CLASS_SSE_UP, /* the rest of the register that the eightbyte before is in */
    CLASS_X87,    /* a result is in a register of the x87, an argument in memory */
    CLASS_MEMORY,
    CLASS_UNKNOWN
};

struct value_classes {
    /* The first one of CLASS_X87, CLASS_MEMORY and CLASS_UNKNOWN is of all of the value. */
    enum value_class of[EIGHTBYTES_MAX];
    uint64_t size;
    uint64_t alignment; /* on the stack, when it is more than EIGHTBYTE */
    bool is_int128;     /* gcc aligns it on the stack, and clang does not */
};

/* `type` is as value_type_entry gives it. */
struct value_classes value_classes_of(Dwarf_Die *type);

#endif
