/* Where Go's functions take and return values.
 *
 * Since Go 1.17 in registers: each value as a whole, a register for each of its numbers and pointers; or, where there are too few
 * left, on the stack, where older compilers put all. Results are in the same registers again. Functions in assembly have
 * them on the stack, but no debug information of them.
 *
 * Called by signatures.c, for the arguments in their order, then again for the results. Source: Go's
 * cmd/compile/abi-internal.md, "Function call argument and result passing", for amd64.
 */
#ifndef MAGIC_TRACE_SYMBOL_GO_CONVENTION_H
#define MAGIC_TRACE_SYMBOL_GO_CONVENTION_H

#include "base/arena.h"
#include "symbol/dwarf/value_places.h"

#include <elfutils/libdw.h>
#include <stdbool.h>

enum { GO_GENERAL_REGISTERS = 9, GO_VECTOR_REGISTERS = 15 };

/* As the processor numbers them, in the order of the convention. */
extern const uint8_t go_general_registers[GO_GENERAL_REGISTERS];

/* What is taken so far. */
struct go_allocation {
    bool by_registers;
    bool is_lost; /* a value of unknown size was met: where later ones are is unknown */
    unsigned general, vector;
    uint32_t stack; /* bytes above the return address, at the function's beginning */
};

/* Whether the compiler of the unit passes values in registers. */
bool go_passes_registers(Dwarf_Die *unit);

/* Places a value of `type`, NULL: its type could not be read. Sets value->value.type to what the places hold: of a value in
 * registers each part has a word of its own. NULL: it cannot be recorded. Made in `memory`. */
void go_place(struct go_allocation *allocation, const struct value_type *type, struct arena *memory,
              struct signature_value *value);

/* The results begin, after all arguments. */
void go_begin_results(struct go_allocation *allocation);

/* Several results in registers as one structure, whose members have their names. False: they are too many, or one of them could not be
 * placed, or is on the stack. */
bool go_join_results(const struct signature_value *results, size_t count, struct arena *memory,
                     struct signature_value *joined);

#endif
