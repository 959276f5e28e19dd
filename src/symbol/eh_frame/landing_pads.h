/* Where exceptions go on: the landing pads of C++, Rust and other languages that use the same
 * tables.
 *
 * When an exception passes a call, the unwinder looks in the exception table (LSDA) of the calling
 * function for the range of code that holds the call. The range has a landing pad, where the
 * function catches the exception or cleans up, or it has none, and the exception passes.
 *
 * Made by object.c, one for each object; read-only and shared by all threads afterwards. All
 * addresses are the object's own.
 *
 * Source: "Itanium C++ ABI: Exception Handling", 7 "Exception Tables" (the published draft leaves
 * the layout to GCC: gcc/libgcc unwind-c.c and libsupc++ eh_personality.cc parse the same).
 */
#ifndef MAGIC_TRACE_SYMBOL_LANDING_PADS_H
#define MAGIC_TRACE_SYMBOL_LANDING_PADS_H

#include "base/array.h"
#include "image/image_file.h"

struct landing_pads {
    const struct image_file *file; /* borrowed */
    struct array functions;        /* struct frame_entry with an exception table, by start */
};

/* `entries`: all that frame_entries_read found in `file`. */
void landing_pads_init(struct landing_pads *pads, const struct image_file *file,
                       const struct array *entries);
void landing_pads_free(struct landing_pads *pads);

/* The landing pad for an exception that unwinds through the call whose return address is
 * `return_address`. 0 when it continues in the caller, or when the table cannot be read. */
uint64_t landing_pads_find(const struct landing_pads *pads, uint64_t return_address);

#endif
