/* What would give the names that a trace lacks, in words for this program and these files.
 *
 * Called when a trace has been written. docs/names.md is the long form.
 */
#ifndef MAGIC_TRACE_CLI_TEXT_MISSING_NAMES_H
#define MAGIC_TRACE_CLI_TEXT_MISSING_NAMES_H

#include "base/array.h"

/* Prints a line for each runtime whose code has no names, and for up to three objects with the most nameless
 * functions. `unnamed` (of struct unnamed_code, symbol/symbols.h) is sorted. */
void missing_names_print(struct array *unnamed);

#endif
