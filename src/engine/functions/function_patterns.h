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

/* Whether `pattern` means this function of the list: as a name of -trigger does (function_list_means), or as a shell pattern of its
 * symbol, its readable name, that without its parameters, or what else base/short_name.h leaves out. A cold part is no function. */
bool function_pattern_means(const char *pattern, const struct function_list *list,
                            const struct listed_function *function);

#endif
