/* Readable names for mangled symbols of C++, Rust, D, OCaml and Go.
 *
 * Called by symbol/ once per function; the result is owned by the caller (free). A symbol that is
 * not mangled comes back as a copy, and so does one whose readable name would be longer than 64 KiB:
 * a symbol may be made to stand for gigabytes.
 */
#ifndef MAGIC_TRACE_SYMBOL_DEMANGLE_H
#define MAGIC_TRACE_SYMBOL_DEMANGLE_H

char *demangle(const char *symbol);

#endif
