/* The functions in perf script's text, as function ids.
 *
 * The same function has one id in all processes, wherever its file is mapped. Files are mapped at
 * whole pages, so the lowest bits of a function's address are always the same: they distinguish
 * static functions of one file that share a name. Parts that a compiler has split off ("f.cold")
 * belong to their function, and symbol versions ("read@@GLIBC_2.2.5") are not part of a name, as
 * with symbols from files. Code without a symbol is one function per object.
 *
 * Owned by text_flow.c; ids live as long as the symbols that they belong to.
 */
#ifndef MAGIC_TRACE_DECODE_TEXT_TEXT_FUNCTIONS_H
#define MAGIC_TRACE_DECODE_TEXT_TEXT_FUNCTIONS_H

#include "recording/perf_script/perf_text_place.h"
#include "symbol/symbols.h"

struct text_functions;

struct text_functions *text_functions_open(struct symbols *symbols);
void text_functions_close(struct text_functions *functions);

/* A NUL-terminated copy in which question marks replace bytes that cannot be in a name. The caller
 * frees. */
char *text_copy_name(struct text_slice name);

/* The function that holds `place`. */
function_id text_functions_get(struct text_functions *functions,
                               const struct perf_text_place *place);

#endif
