/* The inlined calls of a Go function, from its pclntab and the tree of calls that the runtime prints
 * tracebacks with (FUNCDATA_InlTree).
 *
 * Asked where there is no debug information, of programs by Go 1.16 or later. What is damaged is
 * left out.
 *
 * Source: Go's runtime/symtab.go and symtabinl.go, type inlinedCall: since Go 1.20 a call's parent
 * and line are those of the instruction at parentPc; before, they are in the tree.
 */
#ifndef MAGIC_TRACE_SYMBOL_GO_INLINED_H
#define MAGIC_TRACE_SYMBOL_GO_INLINED_H

#include "symbol/dwarf/inlined_calls.h"
#include "symbol/go/pclntab.h"

/* What is inlined in [start, end), as inlined_calls_read; strings live as long as the file. The
 * origin of calls is 0: where inlined functions are declared is not known. Sets *damaged if
 * something could not be read. */
struct inlined_code go_inlined_read(struct pclntab *table, uint64_t start, uint64_t end,
                                    bool *damaged);

#endif
