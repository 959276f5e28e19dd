/* The inlined calls of a function, from debug information.
 *
 * Called by symbols.c, once per range of code of a function that ran, by one thread at a time. A
 * unit's functions are listed at the first question about one of them; what is inside of a function
 * is read for that function alone, so that large debug files are read in parts.
 *
 * libdw checks the bounds of its reads. Damaged entries may still refer to each other in circles or
 * nest endlessly: reading is bounded, and what exceeds the bounds is reported as damage.
 *
 * Source: DWARF 5, 3.3.8 "Inlined Subroutines"; DW_AT_entry_pc says where one begins, else its
 * first range does (2.18 "Entry Address").
 */
#ifndef MAGIC_TRACE_SYMBOL_INLINED_CALLS_H
#define MAGIC_TRACE_SYMBOL_INLINED_CALLS_H

#include "base/arena.h"
#include "symbol/dwarf/inlined_runs.h"
#include "symbol/dwarf/source_lines.h"
#include "symbol/function.h"

#include <stdbool.h>

/* The lists of functions of the units that were asked for; all zeros at first. */
struct inlined_units {
    struct array units; /* of struct unit_functions */
    bool damaged;       /* something could not be read */
};

/* One inlined call, beside its struct inlined_nesting. */
struct inlined_call {
    const char *symbol;     /* as in a symbol table, or the plain name; never NULL */
    uint64_t origin;        /* the offset of the function's own entry, for inlined_calls_line */
    const char *file;       /* of the call; NULL: unknown */
    uint32_t line;          /* of the call; 0: unknown */
    uint32_t discriminator; /* of the call: distinguishes those of one line */
    uint64_t size;          /* bytes of code, with all that is inlined in it */
    bool of_library;        /* its source is a header of the system, or a language's library */
};

/* What is known of a range of code. */
struct inlined_code {
    struct array nesting; /* of struct inlined_nesting; [0] is the function itself */
    struct array calls;   /* of struct inlined_call, parallel; [0] is unused */
    struct array runs;    /* of struct inlined_run; empty: no inlined code */
};

/* Leaves out short calls of functions of libraries: dereferenced iterators, moved pointers,
 * accessors, of which some languages have one every few instructions. */
void inlined_code_leave_out_short(struct inlined_code *code);

/* Reads what is inlined in [start, end), addresses of the object, without merging runs. Strings
 * live as long as the debug information. */
struct inlined_code inlined_calls_read(struct inlined_units *units,
                                       const struct source_lines *lines, uint64_t start,
                                       uint64_t end);
void inlined_code_free(struct inlined_code *code);

/* Where the function whose entry is at `origin` was declared; the file's name is made in `memory`.
 */
struct source_line inlined_calls_line(const struct source_lines *lines, uint64_t origin,
                                      struct arena *memory);

/* The name of the function that the entry is, or stands for, as in a symbol table, or the plain one; never NULL. */
const char *inlined_calls_name(Dwarf_Die *entry);
/* Its name for the linker; NULL: debug information has none, as of C and what is static. */
const char *inlined_calls_linkage_name(Dwarf_Die *entry);

/* The entry of the function that begins at `address`, the object's own. False: none. */
bool inlined_units_function(struct inlined_units *units, const struct source_lines *lines,
                            uint64_t address, Dwarf_Die *entry);

void inlined_units_free(struct inlined_units *units);

#endif
