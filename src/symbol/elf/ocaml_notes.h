/* Where OCaml code pushes exception handlers and takes them off, as the compiler itself says.
 *
 * Jane Street's compiler (ocaml-flambda/flambda-backend, -ftrap-notes, its default) writes the ELF
 * note .note.ocaml_eh, one for each module: the address of .stapsdt.base, then three lists of
 * addresses, each ended by 0: handlers, pushes, pops. The addresses are right if that section has
 * not been moved since (by prelink); otherwise they move with it. The runtime's own assembly, and
 * modules of other compilers, are not in the lists.
 *
 * Called by ocaml_code.c. Source: emit_trap_notes in flambda-backend's backend/amd64/emit.mlp; a
 * push's address is that of the first of its instructions, which loads the handler's.
 */
#ifndef MAGIC_TRACE_SYMBOL_OCAML_NOTES_H
#define MAGIC_TRACE_SYMBOL_OCAML_NOTES_H

#include "base/array.h"

#include <libelf.h>
#include <stdbool.h>
#include <stdint.h>

struct ocaml_note {
    uint64_t address; /* the object's own */
    bool push;        /* else a pop */
};

/* Appends the places to `notes` (of struct ocaml_note), sorted by address, each once. Without the
 * note, or when it is damaged, what is whole is appended. */
void ocaml_notes_read(Elf *elf, struct array *notes);

#endif
