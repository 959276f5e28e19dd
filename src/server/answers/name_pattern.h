/* What names of functions are searched for: a part of them, or a regular expression.
 *
 * Expressions come from a browser and names from a trace, so both are bounded: glibc's regcomp()
 * takes memory without end for nested repetitions, and its regexec() time for back references.
 */
#ifndef MAGIC_TRACE_SERVER_ANSWERS_NAME_PATTERN_H
#define MAGIC_TRACE_SERVER_ANSWERS_NAME_PATTERN_H

#include "base/error.h"

#include <regex.h>
#include <stdbool.h>

struct name_pattern {
    const char *text; /* the caller's; NULL: `expression` is it */
    regex_t expression;
};

/* `text` in any case, or a POSIX extended regular expression. Close it only if it was opened. */
bool name_pattern_open(struct name_pattern *pattern, const char *text, bool is_expression,
                       struct error *error);
void name_pattern_close(struct name_pattern *pattern);

/* Of very long names the first 4,096 bytes are looked at. */
bool name_pattern_matches(const struct name_pattern *pattern, const char *name);

#endif
