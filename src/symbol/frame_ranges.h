/* Bounds of functions from .eh_frame, for objects that have lost their symbols.
 *
 * Unwinding needs to know where each function begins and ends, so stripped objects keep that much:
 * one frame description entry (FDE) per function or part of one. Called by object.c.
 *
 * Source: LSB Core, "Exception Frames" (CIE, FDE, pointer encodings DW_EH_PE_*); libdw walks the
 * entries.
 */
#ifndef MAGIC_TRACE_SYMBOL_FRAME_RANGES_H
#define MAGIC_TRACE_SYMBOL_FRAME_RANGES_H

#include "base/array.h"

#include <libelf.h>

/* Appends the ranges of `elf` to `symbols` (of struct code_symbol, kind CODE_FRAME). Damaged
 * entries and pointer encodings that no compiler uses for code are left out. */
void frame_ranges_read(Elf *elf, struct array *symbols);

#endif
