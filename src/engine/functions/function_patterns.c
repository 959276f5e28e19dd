#include "engine/functions/function_patterns.h"

#include "base/short_name.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

const char *function_pattern_end(const char *text)
{
    int depth = 0;
    for (; *text && !(*text == ',' && depth <= 0); text++) {
        depth += *text == '(' || *text == '<' || *text == '{';
        depth -= *text == ')' || *text == '>' || *text == '}';
    }
    return text;
}

static bool has_wildcard(const char *pattern)
{
    return strpbrk(pattern, "*?[") != NULL;
}

/* Without the parameters. */
static bool matches_name(const char *pattern, const char *name)
{
    char *cut = strndup(name, strcspn(name, "("));
    bool does = fnmatch(pattern, cut, 0) == 0;
    free(cut);
    return does;
}

static bool matches_template(const char *pattern, const char *name)
{
    if (!strchr(name, '<'))
        return false;
    const char *own = name_after_type(name);
    char *plain = plain_name(name);
    bool does = fnmatch(pattern, own, 0) == 0 || fnmatch(pattern, plain, 0) == 0 ||
                matches_name(pattern, own);
    free(plain);
    return does;
}

static bool matches(const char *pattern, const struct listed_function *function)
{
    return fnmatch(pattern, function->symbol, 0) == 0 || fnmatch(pattern, function->name, 0) == 0 ||
           (strchr(function->name, '(') && matches_name(pattern, function->name)) ||
           matches_template(pattern, function->name);
}

bool function_pattern_means(const char *pattern, const struct function_list *list,
                            const struct listed_function *function)
{
    if (listed_function_is_cold(function))
        return false;
    return function_list_means(list, function, pattern) ||
           (has_wildcard(pattern) && matches(pattern, function));
}
