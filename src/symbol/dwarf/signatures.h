/* What functions take and return, and where: names and types from debug information, registers and stack by the calling
 * convention.
 *
 * Called by engine/call_values.c, before a program runs. Where debug information says which registers a parameter is in
 * at the function's first instruction, that counts: compilers leave out parameters of local functions. Elsewhere (-O0,
 * where it says where the parameter is stored later) it is the convention of the ABI.
 *
 * Source: System V psABI for AMD64, 3.2.3 "Parameter Passing"; DWARF numbers of registers, figure 3.36.
 */
#ifndef MAGIC_TRACE_SYMBOL_SIGNATURES_H
#define MAGIC_TRACE_SYMBOL_SIGNATURES_H

#include "base/arena.h"
#include "base/array.h"
#include "recording/call_values.h"

#include <stdbool.h>
#include <stdint.h>

enum value_place_kind {
    PLACE_REGISTER, /* general register `number`, as the processor numbers them: rax 0, rcx 1, ..., r15 15 */
    PLACE_VECTOR, /* xmm `number` */
    PLACE_STACK,  /* `offset` bytes above the return address */
};

/* A part of a value: the next eight bytes, or the rest of them; on the stack and of a vector all. */
struct value_place {
    enum value_place_kind kind;
    uint8_t number;
    uint32_t size; /* bytes */
    int32_t offset;
};

enum { VALUE_PLACES_MAX = 4 };

struct signature_value {
    struct call_value value; /* type NULL: it is not known where it is, or it is too large */
    struct value_place places[VALUE_PLACES_MAX]; /* of the value, or, `in_memory`, of its address */
    size_t place_count;
};

struct signature {
    struct signature_value *arguments;
    size_t argument_count;
    bool has_result;
    struct signature_value result;
};

/* The debug information of an object; NULL when it has none. */
struct signatures;
struct signatures *signatures_open(const char *path);
void signatures_close(struct signatures *signatures);

/* Of the function that begins at `address`, the object's own; `symbol` is its name in the symbol table. False: there is no debug information of it. Made in
 * `memory`. */
bool signatures_find(struct signatures *signatures, uint64_t address, const char *symbol,
                     struct arena *memory, struct signature *signature);

/* Whether the function that begins at `address` is defined in the source file `file`: its path, or the end of it. */
bool signatures_is_of_file(struct signatures *signatures, uint64_t address, const char *file);

/* The six integer registers that arguments are passed in, and rax, as numbers without a type. */
struct signature signature_of_registers(struct arena *memory);

#endif
