#include "engine/functions/function_patterns.h"

#include "base/memory.h"

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

bool function_pattern_matches(const char *pattern, const struct listed_function *function)
{
    if (listed_function_is(function, pattern))
        return true;
    if (!has_wildcard(pattern))
        return false;
    if (fnmatch(pattern, function->symbol, 0) == 0 || fnmatch(pattern, function->name, 0) == 0)
        return true;
    const char *parameters = strchr(function->name, '(');
    if (!parameters)
        return false;
    char *name = memory_copy_string(function->name);
    name[parameters - function->name] = 0;
    bool does = fnmatch(pattern, name, 0) == 0;
    free(name);
    return does;
}
