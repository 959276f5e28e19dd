/* The functions of one object, or of one process's JIT code, and the address ranges that belong to
 * them.
 *
 * Built once by object.c or perf_map.c from code symbols; then read by several threads without a
 * lock. Only the id that a function gets in its `struct symbols` is filled in later, by symbols.c.
 *
 * What happens to overlapping, nested and unsized symbols:
 * - Symbols with the same start are one function, called by its best name (symbol_choice.h); the
 *   longest size counts.
 * - A symbol without a size ends at an FDE's end if one begins with it, else at the next function,
 *   or label that is not local, or where its section ends.
 * - A label inside a function is no function.
 * - Of functions that overlap, the one that starts last owns the bytes they share, so that each
 *   still begins at its start.
 * - "f.cold" is a range of the function f (cold_part.h).
 */
#ifndef MAGIC_TRACE_SYMBOL_SYMBOL_TABLE_H
#define MAGIC_TRACE_SYMBOL_SYMBOL_TABLE_H

#include "base/array.h"
#include "symbol/function.h"

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

struct table_function {
    const char *symbol;     /* NULL: nameless */
    uint64_t start, end;    /* of the main part */
    _Atomic function_id id; /* FUNCTION_UNKNOWN until it is first asked for */
};

struct table_range {
    uint64_t start, end;
    uint32_t function; /* index in functions */
};

struct symbol_table {
    struct table_function *functions;
    struct table_range *ranges; /* ascending, not overlapping */
    uint32_t function_count, range_count;
};

/* Of overlapping symbols with different starts, who wins. */
enum overlap_rule {
    OVERLAP_LATER_START, /* the innermost: static tables */
    OVERLAP_LATER_ADDED, /* the newest: code that was replaced at run time */
};

/* `symbols` (of struct code_symbol) is sorted in place and completed; names are borrowed and must
 * live as long as the table. */
void symbol_table_build(struct symbol_table *table, struct array *symbols, enum overlap_rule rule);
void symbol_table_free(struct symbol_table *table);

/* The range that holds `address`. NULL if not found: then *gap_start and *gap_end bound the
 * addresses around it that have none either. */
const struct table_range *symbol_table_find(const struct symbol_table *table, uint64_t address,
                                            uint64_t *gap_start, uint64_t *gap_end);

#endif
