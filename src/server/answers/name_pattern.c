#include "server/answers/name_pattern.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum {
    PATTERN_MAX = 500,         /* bytes */
    REPETITIONS_MAX = 1000,    /* of all {N} multiplied, as nesting does */
    NAME_LOOKED_AT_MAX = 4096, /* bytes */
};

/* Whether {N,M} of the expression, nested as they may be, make it larger than we let it grow. */
static bool grows_too_large(const char *text)
{
    unsigned long size = 1;
    for (const char *at = strchr(text, '{'); at; at = strchr(at + 1, '{')) {
        unsigned long largest = 1;
        for (const char *digits = at + 1; isdigit((unsigned char)*digits) || *digits == ',';) {
            char *end;
            unsigned long number = strtoul(digits, &end, 10);
            largest = number > largest ? number : largest;
            digits = *end == ',' ? end + 1 : end;
        }
        if (largest > REPETITIONS_MAX || (size *= largest) > REPETITIONS_MAX)
            return true;
    }
    return false;
}

static bool has_back_reference(const char *text)
{
    for (const char *at = strchr(text, '\\'); at && at[1]; at = strchr(at + 2, '\\'))
        if (isdigit((unsigned char)at[1]))
            return true;
    return false;
}

bool name_pattern_open(struct name_pattern *pattern, const char *text, bool is_expression,
                       struct error *error)
{
    *pattern = (struct name_pattern){.text = is_expression ? NULL : text};
    if (strlen(text) > PATTERN_MAX)
        return error_set(error, ERROR_USAGE, "what is searched for is longer than %d characters.",
                         (int)PATTERN_MAX);
    if (!is_expression)
        return true;
    if (grows_too_large(text))
        return error_set(error, ERROR_USAGE,
                         "the regular expression repeats something more than %d times.",
                         (int)REPETITIONS_MAX);
    if (has_back_reference(text))
        return error_set(error, ERROR_USAGE,
                         "back references (\\1) are not supported in the regular expression.");
    int failure = regcomp(&pattern->expression, text, REG_EXTENDED | REG_NOSUB);
    if (failure == 0)
        return true;
    char why[200];
    regerror(failure, &pattern->expression, why, sizeof why);
    return error_set(error, ERROR_USAGE, "this is no regular expression: %s.", why);
}

void name_pattern_close(struct name_pattern *pattern)
{
    if (!pattern->text)
        regfree(&pattern->expression);
}

bool name_pattern_matches(const struct name_pattern *pattern, const char *name)
{
    char beginning[NAME_LOOKED_AT_MAX + 1];
    size_t length = strnlen(name, NAME_LOOKED_AT_MAX + 1);
    if (length > NAME_LOOKED_AT_MAX) {
        memcpy(beginning, name, NAME_LOOKED_AT_MAX);
        beginning[NAME_LOOKED_AT_MAX] = 0;
        name = beginning;
    }
    if (pattern->text)
        return strcasestr(name, pattern->text);
    return regexec(&pattern->expression, name, 0, NULL, 0) == 0;
}
