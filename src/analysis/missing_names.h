/* What would give names to code that has none: to what JIT compilers make, by the runtime, and to objects
 * without symbols.
 *
 * Called when a trace has been written (cli/text/missing_names.c), and by the server for what the page says of a
 * span. docs/names.md is the long form, and says what of it was tried.
 *
 * Sources of what runtimes are asked for by: `node --v8-options`; HotSpot's globals.hpp and `jcmd help`; CPython's
 * "Python support for the Linux perf profiler"; .NET's "Runtime configuration options for debugging and
 * profiling"; erl(1); Ruby's doc/yjit/yjit.md; zend_jit.h of PHP; lj_trace.c of LuaJIT; qemu(1); wasmtime's "Using
 * perf on Linux".
 */
#ifndef MAGIC_TRACE_ANALYSIS_MISSING_NAMES_H
#define MAGIC_TRACE_ANALYSIS_MISSING_NAMES_H

/* How the JIT compiler in `program`, the name of a file or of a process, is made to write the names of its code. */
const char *jit_names_remedy(const char *program);

/* What would give this function of a trace a name, in words; `process` is its process's name. The caller frees; NULL:
 * it has one, or is none of the program's. */
char *missing_name_words(const char *function, const char *process);

#endif
