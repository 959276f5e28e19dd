/* What functions take and return, and where: names and types from debug information, registers and stack by the calling
 * convention.
 *
 * Called by engine/call_values.c, before a program runs. Where debug information says which registers a parameter is in
 * at the function's first instruction, that counts: compilers leave out parameters of local functions. Elsewhere (-O0,
 * where it says where the parameter is stored later) it is the convention of the ABI.
 *
 * Go has a convention of its own (go_convention.h).
 *
 * Source: System V psABI for AMD64, 3.2.3 "Parameter Passing"; DWARF numbers of registers, figure 3.36.
 */
#ifndef MAGIC_TRACE_SYMBOL_SIGNATURES_H
#define MAGIC_TRACE_SYMBOL_SIGNATURES_H

#include "base/arena.h"
#include "base/array.h"
#include "symbol/dwarf/value_places.h"

#include <stdbool.h>
#include <stdint.h>

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

/* Of functions without debug information: the integer registers that the calling convention of the object passes arguments in, and rax, as
 * numbers without a type. Of Go before 1.18, which may pass all on the stack: nothing. */
struct signature signature_of_registers(const char *path, struct arena *memory);

#endif
