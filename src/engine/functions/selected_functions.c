#include "engine/functions/selected_functions.h"

#include "base/edit_distance.h"
#include "base/memory.h"
#include "engine/functions/function_patterns.h"
#include "process/process_files.h"
#include "recording/flags.h"

#include <stdlib.h>
#include <string.h>

/* ---- objects ---- */

static const char *add_path(struct selected_functions *selected, const char *object)
{
    char *path = process_file_real_path(object);
    *(char **)array_add(&selected->paths) = path;
    return path;
}

/* `pattern` NULL: all of them. Returns whether there are any. */
static bool add_functions(struct selected_functions *selected, const char *object,
                          const char *pattern, struct closest_names *closest, struct arena *memory,
                          struct error *error)
{
    struct function_list list;
    const char *path = NULL;
    if (function_list_open(&list, object, error))
        for (size_t i = 0; i < list.functions.count; i++) {
            const struct listed_function *function = array_at(&list.functions, i);
            if (listed_function_is_cold(function))
                continue;
            if (pattern && !function_pattern_means(pattern, &list, function)) {
                listed_function_offer(function, closest, memory);
                continue;
            }
            if (!path)
                path = add_path(selected, object);
            *(struct selected_place *)array_add(&selected->places) =
                (struct selected_place){path, function->file_offset};
        }
    function_list_close(&list);
    return path != NULL;
}

/* libz means libz.so.1, too. */
static bool is_file_name(const char *object, const char *name)
{
    const char *slash = strrchr(object, '/'), *file = slash ? slash + 1 : object;
    size_t length = strlen(name);
    return strncmp(file, name, length) == 0 && (file[length] == 0 || file[length] == '.');
}

static const char *find_object(const char *name, const char *const *objects, size_t object_count)
{
    if (strchr(name, '/'))
        return name;
    for (size_t i = 0; i < object_count; i++)
        if (is_file_name(objects[i], name))
            return objects[i];
    return NULL;
}

/* ---- names ---- */

static bool select_object(struct selected_functions *selected, const char *object,
                          struct error *error)
{
    struct error why = {0};
    if (add_functions(selected, object, NULL, NULL, NULL, &why))
        return true;
    if (why.code != ERROR_NONE)
        return error_set(error, why.code, FLAG_ONLY ": %s", why.text);
    return error_set(error, ERROR_NOT_FOUND,
                     FLAG_ONLY
                     ": %s names no functions. Give a library that is not stripped of its "
                     "symbols.",
                     object);
}

static bool select_functions(struct selected_functions *selected, const char *pattern,
                             const char *const *objects, size_t object_count, struct error *error)
{
    struct arena memory = {0};
    struct closest_names closest = closest_names_to(pattern);
    struct error why = {0};
    bool found = false;
    for (size_t i = 0; i < object_count && !found && !(i > 0 && why.code != ERROR_NONE); i++) {
        struct error unheard = {0};
        found = add_functions(selected, objects[i], pattern, &closest, &memory,
                              i == 0 ? &why : &unheard);
    }
    char names[512] = "";
    closest_names_list(&closest, names, sizeof names);
    arena_free(&memory);
    if (found)
        return true;
    if (why.code != ERROR_NONE)
        return error_set(error, why.code, "%s", why.text);
    return error_set(error, ERROR_NOT_FOUND,
                     "%s, given to " FLAG_ONLY
                     ", is neither a function of %s or its libraries nor one of these "
                     "libraries.%s%s%s A library that is loaded later is named by its path.",
                     pattern, object_count ? objects[0] : "the program",
                     *names ? " Did you mean " : "", names, *names ? "?" : "");
}

static bool select_name(struct selected_functions *selected, const char *name,
                        const char *const *objects, size_t object_count, struct error *error)
{
    const char *object = find_object(name, objects, object_count);
    return object ? select_object(selected, object, error)
                  : select_functions(selected, name, objects, object_count, error);
}

bool selected_functions_find(struct selected_functions *selected, const char *names,
                             const char *const *objects, size_t object_count, struct error *error)
{
    *selected = (struct selected_functions){.places = array_of(sizeof(struct selected_place)),
                                            .paths = array_of(sizeof(char *))};
    bool ok = true;
    for (const char *at = names, *end; ok && *at; at = *end ? end + 1 : end) {
        end = function_pattern_end(at);
        char *name = strndup(at, (size_t)(end - at));
        ok = *name == 0 || select_name(selected, name, objects, object_count, error);
        free(name);
    }
    return ok;
}

void selected_functions_free(struct selected_functions *selected)
{
    for (size_t i = 0; i < selected->paths.count; i++)
        free(*(char **)array_at(&selected->paths, i));
    array_free(&selected->paths);
    array_free(&selected->places);
}
