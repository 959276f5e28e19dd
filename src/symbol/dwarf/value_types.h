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

/* What `type`, as value_type_entry gives it, is; NULL: it has no size, or more than `most` bytes. Made in `memory`. */
struct value_type *value_type_read(Dwarf_Die *type, uint32_t most, struct arena *memory);

#endif
