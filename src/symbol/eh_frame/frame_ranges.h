/* Bounds of functions from .eh_frame, for objects that have lost their symbols. Called by object.c.
 */
#ifndef MAGIC_TRACE_SYMBOL_FRAME_RANGES_H
#define MAGIC_TRACE_SYMBOL_FRAME_RANGES_H

#include "base/array.h"

/* Appends the ranges of `entries` (of struct frame_entry) to `symbols` (of struct code_symbol, kind
 * CODE_FRAME). */
void frame_ranges_add(const struct array *entries, struct array *symbols);

#endif
