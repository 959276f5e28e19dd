/* Values with names, as numbers where they are some and always as text: the arguments of a call, or its result.
 *
 * Made by decode/ (call_value_text.h) of recordings and by output/fxt/ of trace files; shown by the reports and formats.
 */
#ifndef MAGIC_TRACE_BASE_NAMED_VALUES_H
#define MAGIC_TRACE_BASE_NAMED_VALUES_H

#include "base/arena.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum named_value_kind {
    NAMED_SIGNED,
    NAMED_UNSIGNED,
    NAMED_FLOAT,
    NAMED_TEXT, /* no number: a string, a struct, the name of an enumerator */
};

struct named_value {
    const char *name; /* "result" of a result; of an argument without a name its place: "#2" */
    const char *text; /* as in a debugger; one line */
    enum named_value_kind kind;
    const char *string; /* what the program has, of a string; else NULL */
    union {
        int64_t signed_number;
        uint64_t unsigned_number;
        double real;
    };
};

struct named_values {
    size_t count;
    const struct named_value *values; /* the arguments, then the result */
    bool has_result;
    const char *text; /* all of them: size=4096, name="x" -> 12 */
};

/* With all that belongs to it, in `arena`. NULL gives NULL. */
struct named_values *named_values_copy(struct arena *arena, const struct named_values *values);

/* Their text, in `arena`. */
const char *named_values_join(struct arena *arena, const struct named_values *values);

/* The same without the result. */
const char *named_values_join_arguments(struct arena *arena, const struct named_values *values);

/* Makes the value that has this text, as numbers are shown, a number of its kind: 12, -5 'x', true. What is
 * no number stays a text. */
void named_value_read_number(struct named_value *value);

/* The letter that stands for a byte after a backslash, as in C; 0: no letter does. */
char named_value_letter(char byte);

/* The string that a text in quotes stands for, in `arena`; NULL: it begins without a quote. */
const char *named_value_string(struct arena *arena, const char *text);

/* With as few digits as it takes to read the same number again. */
enum { NAMED_FLOAT_SIZE = 64 };
void named_value_print_float(char text[NAMED_FLOAT_SIZE], double real, bool is_single);

#endif
