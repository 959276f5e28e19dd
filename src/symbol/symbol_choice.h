/* Chooses among several names for one address the one that users know.
 *
 * Functions come before labels, and what a library exports before its internal ones. glibc's
 * internal aliases ("__GI_write") come last of their kind. Then the name with fewer leading
 * underscores wins, although it is often the weak one: glibc's `write` and `puts` are weak aliases
 * of `__write` and `_IO_puts`, and programs call the former. Then global before weak, short before
 * long, and last the alphabetical order, so that the choice never depends on the order in the file.
 */
#ifndef MAGIC_TRACE_SYMBOL_SYMBOL_CHOICE_H
#define MAGIC_TRACE_SYMBOL_SYMBOL_CHOICE_H

#include "symbol/code_symbol.h"

/* Negative when `a` is the better one of two named symbols. */
int symbol_choice_compare(const struct code_symbol *a, const struct code_symbol *b);

#endif
