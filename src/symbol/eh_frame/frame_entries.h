/* What .eh_frame says about each function or part of one: where it is, and where its exception
 * table lies.
 *
 * Unwinding needs that much, so even stripped objects keep one frame description entry (FDE) per
 * function or part of one. Read by object.c, for itself and for landing_pads.c.
 *
 * Source: LSB Core 5.0, 10.6 "Exception Frames" (CIE, FDE, augmentations); libdw walks the entries.
 */
#ifndef MAGIC_TRACE_SYMBOL_FRAME_ENTRIES_H
#define MAGIC_TRACE_SYMBOL_FRAME_ENTRIES_H

#include "base/array.h"
#include "image/image_file.h"

#include <libelf.h>

/* Addresses of the object. */
struct frame_entry {
    uint64_t start, end;      /* end exclusive, after the start */
    uint64_t exception_table; /* the language-specific data area (LSDA); 0: none */
};

/* Appends the entries of `elf`, which is that of `file`, to `entries` (of struct frame_entry), in
 * no order. Damaged entries and those with augmentations that no compiler uses are left out. */
void frame_entries_read(Elf *elf, const struct image_file *file, struct array *entries);

#endif
