/* A function's name for prose: without template arguments and parameters, which may take thousands
 * of letters in C++.
 *
 *     std::vector<int, std::allocator<int> >::push_back(int&&)   std::vector<>::push_back
 *     main::{lambda(bool)#5}::operator()(bool) const             main::{lambda(bool)#5}::operator()
 *
 * Other names stay as they are, like <T as Trait>::f of Rust and main.(*T).f of Go. Called by what
 * prints sentences, and by trees that are asked for them; else tables and trees show whole names.
 * Users write them, too: called by all that looks for a function.
 */
#ifndef MAGIC_TRACE_BASE_SHORT_NAME_H
#define MAGIC_TRACE_BASE_SHORT_NAME_H

#include <stdbool.h>

/* The caller frees. */
char *short_name(const char *name);

/* The same without the <> that is left of template arguments: f of int f<int>(int). The caller frees. */
char *plain_name(const char *name);

/* Where it begins after the type that template functions return: f<int>(int) of int f<int>(int). */
const char *name_after_type(const char *name);

/* Whether `text`, which a user wrote, means the function of this name: it is the name, or that without what
 * users leave out: the parameters, the type that template functions begin with, all template arguments.
 *
 *     int n::twice<int>(int)     int n::twice<int>, n::twice<int>(int), n::twice<int>, n::twice<>, n::twice
 */
bool name_means(const char *name, const char *text);

#endif
