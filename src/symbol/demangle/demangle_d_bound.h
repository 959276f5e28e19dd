/* How long the readable form of a D symbol could become.
 *
 * A back reference (`Q` and a distance) repeats what was mangled before, which may hold back
 * references itself: 150 bytes can stand for gigabytes. libiberty's demangler of D has no limit.
 *
 * Used by demangle.c alone. Source: the ABI of D, https://dlang.org/spec/abi.html#back_ref.
 */
#ifndef MAGIC_TRACE_SYMBOL_DEMANGLE_D_BOUND_H
#define MAGIC_TRACE_SYMBOL_DEMANGLE_D_BOUND_H

#include <stdint.h>

/* An upper bound of the mangled symbol's length with all its back references written out, which the
 * readable form exceeds by a small factor at most. Takes time linear in the symbol's length. */
uint64_t d_symbol_expanded_length(const char *symbol);

#endif
