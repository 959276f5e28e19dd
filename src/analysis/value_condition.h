/* What is asked of recorded arguments and results (-args): "parse(size>4096, name~\"x\", result<0)".
 *
 * Called by the page's server, for what is typed into its search box, and by valued_search.h. A
 * condition is a part of a function's name, then terms in parentheses, all of which must hold: name of
 * a parameter or `result`; =, !=, <, <=, >, >= or ~ (has this in it); a number, a word, or a text in quotes.
 * Numbers are compared as numbers, all else as text: an enumerator by its name, a string by what it holds.
 */
#ifndef MAGIC_TRACE_ANALYSIS_VALUE_CONDITION_H
#define MAGIC_TRACE_ANALYSIS_VALUE_CONDITION_H

#include "base/arena.h"
#include "base/named_values.h"

enum value_comparison {
    VALUE_EQUAL,
    VALUE_NOT_EQUAL,
    VALUE_LESS,
    VALUE_AT_MOST,
    VALUE_GREATER,
    VALUE_AT_LEAST,
    VALUE_HAS,
};

struct value_term {
    const char *name;
    enum value_comparison comparison;
    struct named_value
        operand; /* NAMED_TEXT: not a number; its text is what was typed, without quotes */
    const struct value_term *next;
};

struct value_condition {
    const char *function; /* a part of its name; may be empty */
    const struct value_term *terms;
    struct arena memory;
};

/* False: the text is no condition, but may be a name. Free it only if it is one. */
bool value_condition_parse(struct value_condition *condition, const char *text);
void value_condition_free(struct value_condition *condition);

/* Whether all terms hold. None holds of a value that was not recorded. */
bool value_condition_holds(const struct value_condition *condition,
                           const struct named_values *values);

#endif
