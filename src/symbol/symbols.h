/* Finds the function that an address belongs to, and its readable name.
 *
 * One `struct symbols` serves a whole decode and may be used from several threads; an object's
 * tables are loaded at the first question about it. Sources, best first: .symtab (of the object or
 * of its separate debug file, by build id or .gnu_debuglink), .dynsym, Go's .gopclntab, PLT slots ("puts@plt"),
 * jit-PID.dump and perf-PID.map for JIT code, and last the ranges of .eh_frame, which bound
 * functions that have lost their names ("libfoo.so+0x1234"). Code without a name is one function
 * per process ("[JIT code]") or, in a file that is missing, per file ("[libgone.so]").
 *
 * A function can own several ranges: its cold part ("f.cold") lies elsewhere and has the same id.
 */
#ifndef MAGIC_TRACE_SYMBOL_SYMBOLS_H
#define MAGIC_TRACE_SYMBOL_SYMBOLS_H

#include "base/array.h"
#include "image/address_space.h"
#include "symbol/dwarf/inlined.h"
#include "symbol/elf/ocaml_code.h"
#include "symbol/function.h"

struct symbols;

/* `spaces` is borrowed and must outlive the symbols. `perf_map_directory` is where perf-PID.map
 * files lie: NULL means the recording's images/ folder, then /tmp. */
struct symbols *symbols_open(const struct address_spaces *spaces, const char *perf_map_directory);
void symbols_close(struct symbols *symbols);

/* What lies at `address` of `mapping`: the function's id, and its bounds as addresses in the
 * process, so that callers can skip asking again while they stay inside. Without a mapping (NULL):
 * FUNCTION_UNKNOWN with the bounds of the one address. Bounds never reach beyond the mapping. */
struct function_bounds {
    function_id function;
    uint64_t start, end; /* end exclusive */
    bool ocaml;          /* OCaml code is in the same object: see symbols_ocaml_code */
    bool inlined;        /* functions are inlined in it: see symbols_inlined_at */
};
struct function_bounds symbols_find(struct symbols *symbols, const struct mapping *mapping,
                                    uint64_t address);

/* A function that lies in no known address space and was named by another source: perf script's
 * text. `symbol` is as in a symbol table, `object` a path; both are copied and may be NULL. `name`
 * is copied too. */
function_id symbols_add(struct symbols *symbols, const char *name, const char *symbol,
                        const char *object);

/* Valid until symbols_close; ids must have come from above or be one of the special ones. */
const struct function *symbols_function(const struct symbols *symbols, function_id function);

/* The landing pad (landing_pads.h), as an address in the process, of an exception that unwinds
 * through the call whose return address is `return_address` of `mapping`, if its type is caught or
 * cleaned up after there. 0: none, it continues in the caller. */
uint64_t symbols_landing_pad(struct symbols *symbols, const struct mapping *mapping,
                             uint64_t return_address);

/* How the OCaml code of the object behaves that lies at `address` of `mapping`; addresses of the
 * process are those of the object plus *bias. NULL if not found. */
const struct ocaml_code *symbols_ocaml_code(struct symbols *symbols, const struct mapping *mapping,
                                            uint64_t address, uint64_t *bias);

/* Inlined functions (inlined_runs.h). */

/* From now on function_bounds.inlined is set where debug information says so, which is then read
 * for each function that is asked for. To be called while no other thread asks. */
void symbols_find_inlined(struct symbols *symbols);

/* The code around `address` of `mapping` with the same innermost inlined function, as addresses in
 * the process. Only where function_bounds.inlined is set. */
struct inlined_place {
    inlined_id inlined;
    uint64_t start, end; /* end exclusive */
};
struct inlined_place symbols_inlined_at(struct symbols *symbols, const struct mapping *mapping,
                                        uint64_t address);

/* What is inlined at `address` of a function that begins, or a part of which begins, at `start` in
 * the process. False: that function has no inlined code. */
bool symbols_inlined_in(struct symbols *symbols, function_id function, uint64_t start,
                        uint64_t address, inlined_id *inlined);

/* All that have been found, and will be. Valid until symbols_close. */
struct inlined_table;
const struct inlined_table *symbols_inlined_calls(const struct symbols *symbols);

/* Valid until symbols_close. */
const struct inlined *symbols_inlined(const struct symbols *symbols, inlined_id inlined);

/* The path of an object whose debug information is damaged, so that inlined functions are missing;
 * NULL: all are whole. */
const char *symbols_damaged_debug_information(const struct symbols *symbols);

/* Reads debug information at the first question for an object; slow, so ask only for what is shown.
 */
struct source_line symbols_line(struct symbols *symbols, function_id function);

/* All zeros: there is no debug information. Valid until symbols_close. */
struct declared_function symbols_declared(struct symbols *symbols, function_id function);

/* The line of one instruction. */
struct source_line symbols_line_at(struct symbols *symbols, const struct mapping *mapping,
                                   uint64_t address);

/* Code that was asked for and has no names. */
struct unnamed_code {
    const struct image_file *file; /* an object without symbols; NULL: a JIT compiler's code */
    const struct process *process; /* whose JIT code it is, if `file` is NULL */
    size_t functions;              /* of the object, that were asked for and have no name */
};

/* Appends to `list` (of struct unnamed_code): objects of which most functions that were asked for have no
 * names, and processes whose JIT compiler named its code nowhere ("[JIT code]"). */
void symbols_unnamed_code(const struct symbols *symbols, struct array *list);

#endif
