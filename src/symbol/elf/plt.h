/* Names for PLT slots, through which an object calls functions of others: "puts@plt".
 *
 * Linkers lay them out in many ways (.plt with a header, .plt.sec after an IBT .plt, .plt.got; GNU
 * ld, gold, lld, mold), so no layout is assumed beyond the size of a slot. A slot is named by what
 * it does: it jumps through the GOT entry of which a relocation says whose address will be there,
 * or, if it is the lazy half of an IBT pair, it pushes the number of that relocation. Called by
 * object.c.
 *
 * Source: x86-64 psABI, "Procedure Linkage Table" and its IBT variant; R_X86_64_* from elf.h.
 */
#ifndef MAGIC_TRACE_SYMBOL_PLT_H
#define MAGIC_TRACE_SYMBOL_PLT_H

#include "base/arena.h"
#include "base/array.h"

#include <libelf.h>

/* Appends the slots of `elf` to `symbols` (of struct code_symbol), whose functions give their names
 * to slots of IFUNCs in static programs. Names are made in `names`. */
void plt_read(Elf *elf, struct arena *names, struct array *symbols);

#endif
