/* Types of C, C++, Rust and Go programs from DWARF, as far as showing values needs them (recording/call_values.h).
 *
 * Called by signatures.c. Pointers are not followed, so types are finite; what nests deeper than some levels, or has no
 * size, is bytes. Source: DWARF 5, chapter 5 "Type Entries".
 */
#ifndef MAGIC_TRACE_SYMBOL_VALUE_TYPES_H
#define MAGIC_TRACE_SYMBOL_VALUE_TYPES_H

#include "base/arena.h"
#include "recording/call_values.h"

#include <elfutils/libdw.h>
#include <stdbool.h>

/* The entry of the type of `entry` (a parameter, a function, a member) without typedefs and qualifiers. False: it has
 * none (void). */
bool value_type_entry(Dwarf_Die *entry, Dwarf_Die *type);

/* The number in attribute `name` of the entry, or of the one that it completes. False: it has no such constant. */
bool value_type_number(Dwarf_Die *entry, unsigned name, uint64_t *number);

/* Of a member that is a bit-field, of a type of `size` bytes: its bits of the structure, from the lowest of its first byte on. False: it is
 * none. */
bool value_type_bits(Dwarf_Die *member, uint64_t size, uint64_t *first, uint64_t *count);

/* Whether it is a floating-point number of more than eight bytes, or complex with two of them, as the x87 has them (80 bits), or
 * as IEEE's binary128. In DWARF only their names differ. */
bool value_type_is_x87(Dwarf_Die *entry);
bool value_type_is_quad(Dwarf_Die *entry);

/* What `type`, as value_type_entry gives it, is; NULL: it has no size, or more than `most` bytes. Made in `memory`. */
struct value_type *value_type_read(Dwarf_Die *type, uint32_t most, struct arena *memory);

#endif
