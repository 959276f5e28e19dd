/* Values of options as Jane Street's magic-trace writes them: s-expressions of OCaml's records and variants.
 *
 *     (Sample((freq 1000)))          a constructor with a record
 *     (Custom (cyc 1)(mtc_period 3)) the same without the record's own parentheses
 *     ((name Cache_misses)(when_to_sample (Period 50)))   a record alone
 *
 * A word is letters, digits and "_-.". Source of the grammar: sexplib's conventions for OCaml
 * types; the forms in use: those of its command line (docs/man/magic-trace-run.1 lists
 * them).
 */
#ifndef MAGIC_TRACE_CLI_OPTIONS_SEXP_H
#define MAGIC_TRACE_CLI_OPTIONS_SEXP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { SEXP_WORD = 40, SEXP_FIELDS = 8 };

/* (NAME VALUE), or (NAME (KIND VALUE)). */
struct sexp_field {
    char name[SEXP_WORD];
    char kind[SEXP_WORD]; /* "": none */
    char value[SEXP_WORD];
};

struct sexp_record {
    char constructor[SEXP_WORD]; /* "": none */
    struct sexp_field fields[SEXP_FIELDS];
    size_t count;
};

/* False when `text` has another form, or is longer than fits. */
bool sexp_read_record(struct sexp_record *record, const char *text);

/* "1000" and OCaml's "10_000". False when it is no number or does not fit. */
bool sexp_number(const char *word, uint64_t *number);

/* "true" or "1", "false" or "0". */
bool sexp_boolean(const char *word, bool *value);

#endif
