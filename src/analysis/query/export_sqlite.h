/* A trace as a database of SQLite's: the tables of trace_tables.h in a file.
 *
 * A format of `magic-trace export`; here and not with the others because its rows come from an index.
 */
#ifndef MAGIC_TRACE_ANALYSIS_QUERY_EXPORT_SQLITE_H
#define MAGIC_TRACE_ANALYSIS_QUERY_EXPORT_SQLITE_H

#include "output/export/export.h"

extern const struct export_format export_sqlite;

#endif
