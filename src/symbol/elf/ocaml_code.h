/* Whether an object holds OCaml code, and where that keeps its newest exception handler.
 *
 * Made by object.c; read-only and shared by all threads afterwards. The decoder looks for traps
 * (x86/trap_scan.h) in objects with OCaml code alone, so that other programs do not pay for them.
 *
 * An object is looked at when it has a symbol that OCaml's compiler or runtime defines, or if it is
 * a program that has lost its symbols, the name of the runtime's environment variable; a library
 * exports the symbols. It has OCaml code if a handler is pushed somewhere in it, or if the
 * compiler's notes say so.
 */
#ifndef MAGIC_TRACE_SYMBOL_OCAML_CODE_H
#define MAGIC_TRACE_SYMBOL_OCAML_CODE_H

#include "base/array.h"
#include "image/image_file.h"
#include "symbol/elf/ocaml_notes.h"
#include "x86/trap_scan.h"

struct ocaml_code {
    bool present;           /* else the rest is empty */
    struct x86_place chain; /* an address in it is the object's own; address 0: not known */
    struct array notes;     /* struct ocaml_note, by address */
};

/* `elf` is that of `file`, `symbols` (of struct code_symbol) are all its names. */
void ocaml_code_find(struct ocaml_code *code, Elf *elf, const struct image_file *file,
                     const struct array *symbols);
void ocaml_code_free(struct ocaml_code *code);

#endif
