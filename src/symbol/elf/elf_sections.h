/* The sections of an object by their names. Called by ocaml_code.c and ocaml_notes.c. */
#ifndef MAGIC_TRACE_SYMBOL_ELF_SECTIONS_H
#define MAGIC_TRACE_SYMBOL_ELF_SECTIONS_H

#include <gelf.h>

/* The first section that is called so, and its header; NULL if not found. */
Elf_Scn *elf_find_section(Elf *elf, const char *wanted, GElf_Shdr *header);

#endif
