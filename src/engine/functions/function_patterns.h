/* Lists of functions that users name: names as -trigger takes them, or shell patterns, separated by commas.
 *
 * For chosen_functions.c (-args) and selected_functions.c (-only).
 */
#ifndef MAGIC_TRACE_ENGINE_FUNCTIONS_FUNCTION_PATTERNS_H
#define MAGIC_TRACE_ENGINE_FUNCTIONS_FUNCTION_PATTERNS_H

#include "symbol/function_list.h"

#include <stdbool.h>

/* The end of the pattern that begins at `text`: commas within parentheses and angle brackets belong to it. */
const char *function_pattern_end(const char *text);

/* A pattern may mean the readable name without its parameters, too, or what else base/short_name.h leaves out. */
bool function_pattern_matches(const char *pattern, const struct listed_function *function);

#endif
