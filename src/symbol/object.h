/* What symbol/ knows of one ELF object: its functions, where exceptions go on in them, and the way
 * to its debug information.
 *
 * Opened by symbols.c at the first question about the object; the tables are read-only afterwards.
 * The libdwfl session is for source_lines.c and may only be used by one thread at a time.
 *
 * libdwfl finds separate debug files: by build id below /usr/lib/debug/.build-id, by .gnu_debuglink
 * (with its CRC) beside the object, in its .debug folder and below /usr/lib/debug; and it asks a
 * debuginfod server, but only if DEBUGINFOD_URLS is set in the environment.
 */
#ifndef MAGIC_TRACE_SYMBOL_OBJECT_H
#define MAGIC_TRACE_SYMBOL_OBJECT_H

#include "base/arena.h"
#include "image/image_file.h"
#include "symbol/dwarf/inlined_calls.h"
#include "symbol/dwarf/source_lines.h"
#include "symbol/eh_frame/landing_pads.h"
#include "symbol/elf/ocaml_code.h"
#include "symbol/go/pclntab.h"
#include "symbol/symbol_table.h"

#include <elfutils/libdwfl.h>

/* What is inlined where in a range of code. */
struct inlined_map {
    size_t count;              /* 0: no function is */
    struct inlined_run runs[]; /* `innermost` is an inlined_id of the object's `struct symbols` */
};

struct object {
    struct symbol_table table; /* addresses in the object (p_vaddr) */
    struct landing_pads landing_pads;
    struct ocaml_code ocaml;
    struct pclntab *go;  /* NULL: it is no Go program. Owned */
    Dwfl *session;       /* NULL when libdwfl does not accept the file */
    Dwfl_Module *module; /* NULL likewise */
    GElf_Addr bias;      /* module address minus p_vaddr; usually 0 */
    bool lines_opened;   /* at the first question about a line */
    struct source_lines lines;
    struct inlined_units inlined_units;
    struct inlined_map *_Atomic *inlined; /* by range of the table; filled in by symbols.c. Owned */
    struct arena names;
};

/* Never fails: what cannot be read gives fewer names. `file` must be ELF and outlive the object. */
struct object *object_open(const struct image_file *file);
void object_close(struct object *object);

/* What is inlined in [start, end), as inlined_calls_read; nothing without debug information. Slow
 * at the first question about the object. */
struct inlined_code object_inlined_code(struct object *object, uint64_t start, uint64_t end);

/* Where an inlined function was declared; see inlined_calls_line. */
struct source_line object_inlined_line(struct object *object, uint64_t origin,
                                       struct arena *memory);

/* What debug information says of the function that begins at the object's own `entry`. */
struct function_declaration {
    const char *symbol; /* as inlined_calls_name; NULL: there is no such function */
    uint32_t line;      /* 0: unknown */
};
struct function_declaration object_declaration(struct object *object, uint64_t entry);

/* As symbols_declared; the file's name is made in `memory`. */
struct declared_function object_declared(struct object *object, uint64_t entry,
                                         struct arena *memory);

/* As source_lines_discriminator. */
uint32_t object_discriminator(struct object *object, uint64_t address);

/* Where the function that starts at the object's own `address`, or the instruction there, is in the
 * source; the name is made in `memory`. */
struct source_line object_line(struct object *object, uint64_t address, enum source_row which,
                               struct arena *memory);

#endif
