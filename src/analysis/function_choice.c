#include "analysis/function_choice.h"

#include "base/edit_distance.h"
#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

enum match { NO_MATCH, MATCH_PART, MATCH_NAME };

static enum match match_of(const struct index_function *function, const char *name)
{
    size_t length = strlen(name);
    if (strcmp(function->name, name) == 0)
        return MATCH_NAME;
    if (strncmp(function->name, name, length) == 0 && function->name[length] == '(')
        return MATCH_PART;
    return function->symbol && strcmp(function->symbol, name) == 0 ? MATCH_PART : NO_MATCH;
}

static bool refuse_unknown(const struct trace_index *index, const char *name, struct error *error)
{
    struct closest_names closest = closest_names_to(name);
    for (uint32_t i = 0; i < trace_index_facts(index)->functions; i++)
        if (trace_index_function(index, i).group == i)
            closest_names_offer(&closest, trace_index_function(index, i).name);
    char names[512];
    closest_names_list(&closest, names, sizeof names);
    if (*names)
        return error_set(error, ERROR_NOT_FOUND, "the trace has no call of %s. Did you mean %s?",
                         name, names);
    return error_set(error, ERROR_NOT_FOUND,
                     "the trace has no call of %s. `magic-trace report` lists the functions it has",
                     name);
}

static bool refuse_several(const struct trace_index *index, const char *name,
                           const uint32_t groups[2], struct error *error)
{
    return error_set(error, ERROR_USAGE,
                     "several functions are called %s, `%s` and `%s` among them. Give the name "
                     "with its parameters",
                     name, trace_index_function(index, groups[0]).name,
                     trace_index_function(index, groups[1]).name);
}

static bool find_group(const struct trace_index *index, const char *name, uint32_t *group,
                       struct error *error)
{
    uint32_t found[2];
    size_t count = 0;
    for (uint32_t i = 0; i < trace_index_facts(index)->functions; i++) {
        struct index_function function = trace_index_function(index, i);
        enum match match = match_of(&function, name);
        if (match == MATCH_NAME) {
            *group = function.group;
            return true;
        }
        if (match == NO_MATCH || (count > 0 && found[0] == function.group))
            continue;
        if (count < 2)
            found[count++] = function.group;
    }
    if (count == 0)
        return refuse_unknown(index, name, error);
    if (count > 1)
        return refuse_several(index, name, found, error);
    *group = found[0];
    return true;
}

bool function_choose(const struct trace_index *index, const char *text,
                     struct function_choice *choice, struct error *error)
{
    char *name = memory_copy_string(text);
    char *hash = strrchr(name, '#');
    bool is_call = hash && hash[1] && hash[1 + strspn(hash + 1, "0123456789")] == 0;
    *choice = (struct function_choice){.ordinal = is_call ? strtoull(hash + 1, NULL, 10) : 0};
    bool ok = !is_call || choice->ordinal > 0 ||
              error_set(error, ERROR_USAGE, "%s means nothing: calls count from 1", text);
    if (is_call)
        *hash = 0;
    ok = ok && find_group(index, name, &choice->group, error);
    free(name);
    return ok;
}
