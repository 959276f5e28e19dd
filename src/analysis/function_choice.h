/* The function of a trace that the user names: `parse`, `parse(char const*)`, a symbol, and a call
 * of it, `parse#804`.
 *
 * Called by the commands that answer questions about functions.
 */
#ifndef MAGIC_TRACE_ANALYSIS_FUNCTION_CHOICE_H
#define MAGIC_TRACE_ANALYSIS_FUNCTION_CHOICE_H

#include "index/trace_index.h"

struct function_choice {
    uint32_t group;
    uint64_t ordinal; /* of the call; 0: none was named */
};

/* A function is meant by its name, also without its parameters ("f" for "f(int)"), by its symbol, or, where no function is
 * meant so, by the last part of its name ("handle" for "shop::Server::handle" and "main.(*Server).handle").
 * ERROR_NOT_FOUND, with similar names, when no function fits; ERROR_USAGE, with their names, when there are several, or for
 * call number 0. */
bool function_choose(const struct trace_index *index, const char *text,
                     struct function_choice *choice, struct error *error);

#endif
