/* Go's table of functions and lines, which every Go program carries, stripped or not: the runtime
 * itself needs it to unwind its stacks.
 *
 * Opened by object.c; lines are go_lines.h's, inlined calls go_inlined.h's. It is found as the
 * section .gopclntab (.data.rel.ro.gopclntab if position-independent), or by its first bytes in a
 * segment: in a file without section headers, and where another linker made that a part of
 * .data.rel.ro. It may be damaged: what points outside of it is left out.
 *
 * Four versions are in use, distinguished by the magic number: Go 1.2 to 1.15, 1.16 and 1.17, 1.18 and 1.19,
 * 1.20 and later. Source: Go's runtime/symtab.go (pcHeader, moduledata, funcname, step),
 * runtime/runtime2.go (_func), internal/abi/symtab.go, debug/gosym/pclntab.go; the linker's
 * cmd/link/internal/ld/pcln.go.
 *
 * Names are those of the symbol table, except that the linker writes the type arguments of a generic
 * function as "[...]", and adds no ".abi0" to functions in assembly.
 */
#ifndef MAGIC_TRACE_SYMBOL_PCLNTAB_H
#define MAGIC_TRACE_SYMBOL_PCLNTAB_H

#include "base/arena.h"
#include "base/array.h"
#include "image/image_file.h"
#include "symbol/go/go_image.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum pclntab_version {
    PCLNTAB_GO_1_2,
    PCLNTAB_GO_1_16,
    PCLNTAB_GO_1_18,
    PCLNTAB_GO_1_20,
};

/* A part of the table; it ends where the table does. */
struct pclntab_part {
    const uint8_t *bytes;
    size_t size;
};

struct pclntab {
    struct go_image image;
    enum pclntab_version version;
    uint64_t address;          /* of the table, the object's own, as all addresses here */
    struct pclntab_part whole; /* of the table, or the rest of its segment */
    uint64_t text;             /* what entries are relative to; 0: they are addresses */
    uint32_t function_count;
    struct pclntab_part entries; /* for each function its entry and the place of its record */
    struct pclntab_part records; /* struct _func */
    struct pclntab_part names, files, units, values;
    uint64_t
        module; /* its moduledata (go_module.h); 0: not found; UINT64_MAX: not looked for yet */
};

/* NULL: the object is no Go program or library. `elf` is that of `file`, which must outlive the
 * table. */
struct pclntab *pclntab_open(Elf *elf, const struct image_file *file);
void pclntab_close(struct pclntab *table);

struct pclntab_function {
    uint32_t index;
    uint64_t entry, end;        /* end exclusive, padding included */
    struct pclntab_part record; /* its struct _func */
};

/* Function `index`; false: it is damaged. */
bool pclntab_function(const struct pclntab *table, uint32_t index,
                      struct pclntab_function *function);

/* The function that holds `address`; false: none does. */
bool pclntab_find(const struct pclntab *table, uint64_t address, struct pclntab_function *function);

/* Its name, which lives as long as the file; NULL: damaged. */
const char *pclntab_name(const struct pclntab *table, const struct pclntab_function *function);

/* The name at an offset in the names; NULL: damaged. */
const char *pclntab_name_at(const struct pclntab *table, uint32_t offset);

/* The path of a source file, by its number among those of the function's compilation unit; NULL: it
 * has none. Lives as long as the file. */
const char *pclntab_file(const struct pclntab *table, const struct pclntab_function *function,
                         int32_t number);

/* Adds the functions at whose entry `symbols` (of struct code_symbol) has no named one. Their names
 * live as long as the file or `names`. */
void pclntab_add_symbols(const struct pclntab *table, struct arena *names, struct array *symbols);

/* The numbers of a record, by their place in it. `nth` counts the fields of four bytes after the
 * entry: name 1, pcfile 5, pcln 6, npcdata 7, compilation unit 8 (since Go 1.16). 0 if it is not there. */
enum pclntab_field {
    PCLNTAB_NAME = 1,
    PCLNTAB_FILE = 5,
    PCLNTAB_LINE = 6,
    PCLNTAB_VALUE_TABLES = 7,
    PCLNTAB_UNIT = 8,
};
uint32_t pclntab_field(const struct pclntab *table, const struct pclntab_function *function,
                       enum pclntab_field field);

/* The table of values that says which call of the tree an instruction is inlined by. */
enum { PCLNTAB_INLINED_INDEX = 2 };

/* Offset of the table of values `index` ("PCDATA") of the function; 0: it has none. */
uint32_t pclntab_value_table(const struct pclntab *table, const struct pclntab_function *function,
                             uint32_t index);

/* Address of data `index` ("FUNCDATA") of the function; 0: it has none. Slow at the first question
 * about a table. */
uint64_t pclntab_function_data(struct pclntab *table, const struct pclntab_function *function,
                               uint32_t index);

/* A table of values, which change from address to address in a function. */
struct pclntab_values {
    struct pclntab_part rest;
    uint64_t end;     /* of the function */
    uint64_t address; /* where the next value begins */
    int32_t value;
    bool started;
};

/* Consecutive addresses with one value. */
struct pclntab_value {
    uint64_t start, end;
    int32_t value;
};

/* Goes through the values at `offset`; nothing if that is 0. */
struct pclntab_values pclntab_values(const struct pclntab *table,
                                     const struct pclntab_function *function, uint32_t offset);
bool pclntab_values_next(struct pclntab_values *values, struct pclntab_value *value);

#endif
