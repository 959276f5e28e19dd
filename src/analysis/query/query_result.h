/* The rows of a query as text: a table for people, CSV, or JSON.
 *
 * Called by `magic-trace query`, and by the server for JSON. CSV is RFC 4180 with the columns' names in the
 * first line; NULL is empty, and what a spreadsheet would run as a formula has an apostrophe in front. JSON is
 * an array of objects, one a line; text that is no UTF-8 is repaired, a blob is written as hexadecimal
 * digits, and of columns of one name the later ones are called NAME_2 and so on.
 */
#ifndef MAGIC_TRACE_ANALYSIS_QUERY_QUERY_RESULT_H
#define MAGIC_TRACE_ANALYSIS_QUERY_QUERY_RESULT_H

#include "analysis/query/read_only_database.h"

#include <stdbool.h>
#include <stdio.h>

enum query_form {
    QUERY_TABLE,
    QUERY_CSV,
    QUERY_JSON,
};

/* What was written. */
struct query_written {
    uint64_t rows;
    bool cut; /* the budget has left out the rows after these */
};

/* Writes the rows of a statement: those that fit `max_bytes`, one at least, or all when that is 0.
 * After an error the rows before it are written, and JSON is closed. */
bool query_result_write(struct read_only_database *database, sqlite3_stmt *statement,
                        enum query_form form, size_t max_bytes, FILE *out,
                        struct query_written *written, struct error *error);

#endif
