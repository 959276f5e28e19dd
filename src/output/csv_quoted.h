/* A text as a cell of a CSV file (RFC 4180), always UTF-8 (base/utf8.h).
 *
 * Spreadsheets take a cell that begins with =, +, - or @ for a formula, and run it: such a text gets
 * an apostrophe in front. Used by `export -format csv` and by `query -csv`.
 */
#ifndef MAGIC_TRACE_OUTPUT_CSV_QUOTED_H
#define MAGIC_TRACE_OUTPUT_CSV_QUOTED_H

/* In quotes if necessary. The caller frees. */
char *csv_quoted(const char *text);

#endif
