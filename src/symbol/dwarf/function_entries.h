/* The functions of a unit that have code, listed from .debug_info.
 *
 * Called by inlined_calls.c, once per unit that has code which ran. Where a function's entry is can
 * only be known by going through all entries of its unit, most of which are types. So entries are
 * passed over by the sizes that their abbreviations give them, attributes unread: of programs with
 * hundreds of megabytes of debug information this is most of what is read at all, and asking libdw
 * about every entry takes ten times as long. What has code is read by libdw.
 *
 * Debug information may be damaged: entries that reach beyond their unit, or whose abbreviation or form is unknown,
 * end the list and are damage.
 *
 * Source: DWARF 5, 7.5 "Format of Debugging Information"; older forms: DWARF 2 to 4, and GNU's.
 */
#ifndef MAGIC_TRACE_SYMBOL_FUNCTION_ENTRIES_H
#define MAGIC_TRACE_SYMBOL_FUNCTION_ENTRIES_H

#include "base/array.h"

#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stdint.h>

/* A range of code of a function. */
struct function_entry {
    uint64_t start, end; /* addresses in DWARF, end exclusive */
    uint64_t reach;      /* the greatest end of this range and those before it */
    Dwarf_Off offset;    /* of the DW_TAG_subprogram */
};

/* Makes a list of the ranges of all functions of the unit (struct function_entry), by start and
 * offset. False: something is damaged, and what comes after it is not listed. */
bool function_entries_list(Dwarf *debug, Dwarf_Die *unit, struct array *functions);

/* Index of the first range that ends after `address`; their count after the last. What else
 * ends after it, follows. */
size_t function_entries_find(const struct array *functions, uint64_t address);

#endif
