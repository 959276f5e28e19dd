/* A string as JSON has it: in quotes, escaped, and always UTF-8 (base/utf8.h).
 *
 * Used by the exporters, once per name.
 */
#ifndef MAGIC_TRACE_OUTPUT_JSON_QUOTED_H
#define MAGIC_TRACE_OUTPUT_JSON_QUOTED_H

#include "base/named_values.h"

/* The caller frees. */
char *json_quoted(const char *string);

/* A number where the value is one, but addresses; else its text. The caller frees. */
char *json_named_value(const struct named_value *value);

#endif
