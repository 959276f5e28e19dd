/* Where an inlined call begins: DW_AT_entry_pc, or the beginning of its first range.
 *
 * Shared by inlined_calls.c and inlined_search.c. Source: DWARF 5, 2.18 "Entry Address".
 */
#ifndef MAGIC_TRACE_SYMBOL_INLINED_ENTRY_H
#define MAGIC_TRACE_SYMBOL_INLINED_ENTRY_H

#include "symbol/range_cover.h"

#include <elfutils/libdw.h>
#include <stddef.h>
#include <stdint.h>

/* `call` is a DW_TAG_inlined_subroutine, `ranges` its code, `count` of them, at least one. Addresses
 * are those of DWARF minus `bias`. */
uint64_t inlined_entry_read(Dwarf_Die *call, const struct ranked_range *ranges, size_t count,
                            uint64_t bias);

#endif
