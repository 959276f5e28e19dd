/* The functions that an object's symbol tables name.
 *
 * Called by object.c. libdwfl finds the tables: .symtab of the object or of its separate debug file
 * (by build id or .gnu_debuglink), .gnu_debugdata, .dynsym. The object's own .dynsym is read,
 * too, if it is not the one found: some tools strip names from .symtab that are still exported.
 *
 * Taken are STT_FUNC and STT_GNU_IFUNC in executable segments, and STT_NOTYPE in executable
 * sections. Version suffixes ("memcpy@@GLIBC_2.14") are cut off.
 */
#ifndef MAGIC_TRACE_SYMBOL_ELF_SYMBOLS_H
#define MAGIC_TRACE_SYMBOL_ELF_SYMBOLS_H

#include "base/arena.h"
#include "base/array.h"
#include "image/image_file.h"

#include <elfutils/libdwfl.h>

/* Appends to `symbols` (of struct code_symbol). Names point into the module's tables or into
 * `names`. */
void elf_symbols_read(Dwfl_Module *module, const struct image_file *file, struct arena *names,
                      struct array *symbols);

/* The same of an object that libdwfl does not accept: those by perf inject --jit, which up to
 * Linux 6.1 have no program headers. */
void elf_symbols_read_alone(const struct image_file *file, struct arena *names,
                            struct array *symbols);

#endif
