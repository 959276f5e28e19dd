/* Sums over the calls of each function, from those that the index makes.
 *
 * SQLite reads `calls` row by row and sorts it for GROUP BY: a minute for 100 million calls. The
 * table `functions` has the same sums after a second or two. So a query of this form is answered
 * from there, with the same rows, sorted by the function where ORDER BY leaves it open:
 *
 *     SELECT ... FROM calls [WHERE whole] [WHERE thread_id = N]
 *     GROUP BY function | function_id [HAVING ...] [ORDER BY ...] [LIMIT ...]
 *
 * in which all that is computed is made of the aggregates in aggregate_pushdown.c. Any other word
 * in it, a text or a comment leaves it as it is. Called by read_only_database.c.
 */
#ifndef MAGIC_TRACE_ANALYSIS_QUERY_AGGREGATE_PUSHDOWN_H
#define MAGIC_TRACE_ANALYSIS_QUERY_AGGREGATE_PUSHDOWN_H

#include <stddef.h>

/* The statement that asks `functions` instead; NULL: `sql`, one statement that SQLite understands,
 * has not that form. The caller frees by sqlite3_free(). */
char *aggregate_pushdown(const char *sql, size_t length);

#endif
