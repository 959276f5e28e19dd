/* Which function a cold part belongs to.
 *
 * Compilers move code that seldom runs out of a function f into a part of its own, "f.cold" (GCC 10
 * and LLVM) or "f.cold.N" (GCC 8 and 9), far away. Control jumps there and back: it is no call, so
 * both parts are one function to a reader. The part is a local symbol; when several static
 * functions are called f, the one of the same source file is meant.
 */
#ifndef MAGIC_TRACE_SYMBOL_COLD_PART_H
#define MAGIC_TRACE_SYMBOL_COLD_PART_H

#include "symbol/code_symbol.h"

#include <stddef.h>
#include <stdint.h>

/* Length of f in "f.cold", "f.cold.12" and, demangled, "f [clone .cold]"; 0 when the name, of
 * `size` bytes, is no cold part's. */
size_t cold_part_main_length(const char *name, size_t size);

/* For each of `count` symbols that is a cold part of another and unambiguously so, sets
 * function_of[i] to that of the other. */
void cold_parts_join(const struct code_symbol *symbols, size_t count, uint32_t *function_of);

#endif
