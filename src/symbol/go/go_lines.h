/* Source lines of Go programs, from their pclntab.
 *
 * Asked where there is no debug information. Paths are as the compiler had them: absolute, or, built
 * with -trimpath, beginning with the module's name. The line of inlined code is its own, not that of
 * the call.
 */
#ifndef MAGIC_TRACE_SYMBOL_GO_LINES_H
#define MAGIC_TRACE_SYMBOL_GO_LINES_H

#include "symbol/function.h"
#include "symbol/go/pclntab.h"

/* Where the instruction at `address` is in the source; file NULL: unknown. Paths live as long as the
 * file. */
struct source_line go_lines_find(const struct pclntab *table, uint64_t address);

/* Code of one line, and of one function or inlined call. */
struct go_line_row {
    const char *path;
    uint32_t line;
    uint64_t address;
    uint64_t scope; /* distinguishes functions, and inlined calls in them; not 0 */
};

/* Calls `visit` with all rows of the program, function by function. */
void go_lines_visit(const struct pclntab *table,
                    void (*visit)(void *context, const struct go_line_row *row), void *context);

#endif
