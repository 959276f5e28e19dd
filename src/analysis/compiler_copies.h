/* Copies of a function that the compiler made for some of its callers: with arguments that are known or
 * left out, or under a name that is unique in the program.
 *
 *     foo.constprop.0, foo.isra.1, foo.lto_priv.0            foo
 *     foo.part.0.isra.0                                      foo.part.0
 *     Parser::next(int) [clone .constprop.0]                 Parser::next(int)
 *
 * A part of a function, like foo.part.0 or foo.cold, is no copy: foo calls it.
 *
 * Called by function_ids.c. The suffixes: GCC's clone_function_name() and LLVM's
 * getGlobalPromotedName().
 */
#ifndef MAGIC_TRACE_ANALYSIS_COMPILER_COPIES_H
#define MAGIC_TRACE_ANALYSIS_COMPILER_COPIES_H

/* The name of what `name` is a copy of, or the same name. The caller frees. */
char *name_of_copied(const char *name);

#endif
