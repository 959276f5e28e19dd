/* Where in the source a function begins, from DWARF line tables.
 *
 * Called by symbols.c, by one thread at a time. The row of the line table at the function's first
 * instruction is taken: it exists also for functions without a DIE of their own (assembly) and,
 * when .debug_info was removed, in .debug_line alone. libdw decompresses sections and bounds all
 * that it reads.
 */
#ifndef MAGIC_TRACE_SYMBOL_SOURCE_LINES_H
#define MAGIC_TRACE_SYMBOL_SOURCE_LINES_H

#include "base/arena.h"
#include "symbol/object.h"

/* `address` is the object's own. The file's name is made in `memory`; absolute where the table says
 * how. */
struct source_line source_line_at(struct object *object, uint64_t address, struct arena *memory);

#endif
