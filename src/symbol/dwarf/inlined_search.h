/* From the name of a function to the places at which it is inlined.
 *
 * Called by engine/trigger/trigger.c, before a program runs. Reads all debug information of the object: slow
 * where there is much.
 */
#ifndef MAGIC_TRACE_SYMBOL_INLINED_SEARCH_H
#define MAGIC_TRACE_SYMBOL_INLINED_SEARCH_H

#include "symbol/dwarf/searched_object.h"

/* Appends to `places` (of struct code_place, by address) where the inlined calls of `function`
 * begin, which is its symbol, its readable name, or that without the list of arguments.
 * ERROR_NOT_FOUND: none, or no debug information. */
bool inlined_search(const char *object, const char *function, struct array *places,
                    struct error *error);

#endif
