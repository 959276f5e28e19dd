/* A function's name for prose: without template arguments and parameters, which may take thousands
 * of letters in C++.
 *
 *     std::vector<int, std::allocator<int> >::push_back(int&&)   std::vector<>::push_back
 *     main::{lambda(bool)#5}::operator()(bool) const             main::{lambda(bool)#5}::operator()
 *
 * Other names stay as they are, like <T as Trait>::f of Rust and main.(*T).f of Go. Called by what
 * prints sentences, and by trees that are asked for them; else tables and trees show whole names.
 */
#ifndef MAGIC_TRACE_OUTPUT_SHORT_NAME_H
#define MAGIC_TRACE_OUTPUT_SHORT_NAME_H

/* The caller frees. */
char *short_name(const char *name);

#endif
