/* Where in the source a function begins, from DWARF line tables.
 *
 * Called by symbols.c, by one thread at a time. The first row of the line table at the function's
 * first instruction is taken: it exists also for functions without a DIE of their own (assembly)
 * and, when .debug_info was removed, in .debug_line alone. libdw checks the bounds of its reads,
 * and decompresses the sections that line_sections.h leaves to it.
 *
 * Which unit an address belongs to is taken from the units' own ranges and not from .debug_aranges,
 * on which libdw 0.188 relies: LLVM (so clang and Rust) does not write it.
 */
#ifndef MAGIC_TRACE_SYMBOL_SOURCE_LINES_H
#define MAGIC_TRACE_SYMBOL_SOURCE_LINES_H

#include "base/arena.h"
#include "base/array.h"
#include "symbol/dwarf/line_sections.h"
#include "symbol/function.h"

#include <elfutils/libdwfl.h>
#include <stdbool.h>

struct source_lines {
    struct line_sections sections;
    Dwarf *debug;   /* of the sections, or borrowed from the module; NULL: no debug information */
    GElf_Addr bias; /* address in DWARF minus the object's own */
    struct array units; /* of struct unit_range, by start; empty when only line tables are left */
    /* The newest path that was made, of the same file and directory as libdw has them. */
    const char *newest_file, *newest_directory, *newest_path;
};

/* `object_bias`: module address minus the object's own. Slow: looks for debug files and lists their
 * units. */
void source_lines_open(struct source_lines *lines, Dwfl_Module *module, GElf_Addr object_bias);
void source_lines_close(struct source_lines *lines);

/* The unit that has code at `address`, the object's own; false: none is known that has. */
bool source_lines_unit(const struct source_lines *lines, uint64_t address, Dwarf_Die *unit);

/* A line of `file`, as the unit calls it (NULL: unknown); the name is made in `memory`, absolute
 * where the unit says how. */
struct source_line source_lines_place(Dwarf_Die *unit, const char *file, uint32_t line,
                                      struct arena *memory);

/* Which row counts where several are at one address. */
enum source_row { SOURCE_ROW_FIRST /* of a function */, SOURCE_ROW_LAST /* of an instruction */ };

/* `address` is the object's own. The file's name is made in `memory`, always the same one; absolute
 * where the table says how. */
struct source_line source_lines_find(struct source_lines *lines, uint64_t address,
                                     enum source_row which, struct arena *memory);

/* What distinguishes the code of one line, at the instruction; 0: nothing. */
uint32_t source_lines_discriminator(const struct source_lines *lines, uint64_t address);

/* Whether the user's `file` means `path`: it is that, or the end of it from a slash on. */
bool source_path_is(const char *path, const char *file);

#endif
