#include "analysis/function_choice.h"

#include "base/edit_distance.h"
#include "base/memory.h"
#include "base/short_name.h"

#include <stdlib.h>
#include <string.h>

/* How well a name fits a function; the best fit counts. */
enum match { NO_MATCH, MATCH_LAST_PART, MATCH_PART, MATCH_NAME };

/* `handle` of `shop::Server::handle(int)` and of `main.(*Server).handle`. */
static bool is_last_part(const char *function, const char *name)
{
    if (!strstr(function, name)) /* nearly all */
        return false;
    char *path = short_name(function);
    size_t length = strlen(name), path_length = strlen(path);
    const char *last = path + path_length - length;
    bool is = length > 0 && length < path_length && strcmp(last, name) == 0 &&
              (last[-1] == '.' || last[-1] == ':');
    free(path);
    return is;
}

static enum match match_of(const struct index_function *function, const char *name)
{
    size_t length = strlen(name);
    if (strcmp(function->name, name) == 0)
        return MATCH_NAME;
    if (strncmp(function->name, name, length) == 0 && function->name[length] == '(')
        return MATCH_PART;
    if (function->symbol && strcmp(function->symbol, name) == 0)
        return MATCH_PART;
    return is_last_part(function->name, name) ? MATCH_LAST_PART : NO_MATCH;
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
    return error_set(
        error, ERROR_USAGE,
        "several functions are called %s, `%s` and `%s` among them. Give the whole name", name,
        trace_index_function(index, groups[0]).name, trace_index_function(index, groups[1]).name);
}

/* The functions, of different groups, that fit a name best. */
struct fitting {
    enum match match;
    uint32_t groups[2]; /* the first ones */
    size_t count;       /* of them */
};

static void consider(struct fitting *fitting, enum match match, uint32_t group)
{
    if (match > fitting->match)
        *fitting = (struct fitting){.match = match};
    bool is_new = fitting->count == 0 || (fitting->count == 1 && fitting->groups[0] != group);
    if (match != NO_MATCH && match == fitting->match && is_new)
        fitting->groups[fitting->count++] = group;
}

static bool find_group(const struct trace_index *index, const char *name, uint32_t *group,
                       struct error *error)
{
    struct fitting fitting = {.match = NO_MATCH};
    uint32_t functions = trace_index_facts(index)->functions;
    for (uint32_t i = 0; i < functions && fitting.match != MATCH_NAME; i++) {
        struct index_function function = trace_index_function(index, i);
        consider(&fitting, match_of(&function, name), function.group);
    }
    if (fitting.count == 0)
        return refuse_unknown(index, name, error);
    if (fitting.count > 1)
        return refuse_several(index, name, fitting.groups, error);
    *group = fitting.groups[0];
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
