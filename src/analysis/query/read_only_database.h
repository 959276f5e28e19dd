/* SQL questions to a trace: a connection that has its tables and can only read them.
 *
 * Called by `magic-trace query` and by the server. Statements that write, that name files (ATTACH,
 * VACUUM INTO), load code or change settings are refused before they run; SQLite itself creates no file but
 * its own unnamed temporary ones, for sorting. Used by one thread at a time.
 * All connections of a process together get 128 MB of memory.
 */
#ifndef MAGIC_TRACE_ANALYSIS_QUERY_READ_ONLY_DATABASE_H
#define MAGIC_TRACE_ANALYSIS_QUERY_READ_ONLY_DATABASE_H

#include "base/error.h"
#include "index/trace_index.h"

#include <sqlite3.h>
#include <stdint.h>

struct read_only_database;

/* The index must outlive it. NULL on error. */
struct read_only_database *read_only_database_open(const struct trace_index *index,
                                                   struct error *error);
void read_only_database_close(struct read_only_database *database);

/* Ends statements that have run for so long, by the processor time of this thread; 0: never. */
void read_only_database_limit_time(struct read_only_database *database, uint64_t nanoseconds);

/* The next statement of `*sql`, which is moved past it. NULL without an error: no statement is left, only
 * blanks and comments. The caller gives it to sqlite3_finalize(). */
sqlite3_stmt *read_only_database_prepare(struct read_only_database *database, const char **sql,
                                         struct error *error);

/* The next row: SQLITE_ROW, SQLITE_DONE, or another code after an error. */
int read_only_database_step(struct read_only_database *database, sqlite3_stmt *statement,
                            struct error *error);

#endif
