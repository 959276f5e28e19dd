/* SQL's missing aggregates: median(x) and percentile(x, p), exact, by the nearest rank.
 *
 * Called when a connection is opened. median(x) is percentile(x, 50); that of n numbers is number
 * p * n / 100, rounded up, in ascending order, as in the reports. What is no number is left out.
 * Memory grows with the numbers that differ, 24 bytes each.
 */
#ifndef MAGIC_TRACE_ANALYSIS_QUERY_QUANTILE_FUNCTIONS_H
#define MAGIC_TRACE_ANALYSIS_QUERY_QUANTILE_FUNCTIONS_H

#include <sqlite3.h>

/* Gives SQLite's code. */
int quantile_functions_register(sqlite3 *database);

#endif
