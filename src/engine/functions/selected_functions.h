/* Functions that a recording is limited to: -only.
 *
 * selected_functions_find turns names of functions and of libraries into the places of functions in files, as engine/trigger/trigger.h
 * does for triggers. What these functions do is recorded, and what they call.
 */
#ifndef MAGIC_TRACE_ENGINE_FUNCTIONS_SELECTED_FUNCTIONS_H
#define MAGIC_TRACE_ENGINE_FUNCTIONS_SELECTED_FUNCTIONS_H

#include "base/array.h"
#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct selected_place {
    const char *path;     /* of the object, absolute, links resolved; borrowed from `paths` */
    uint64_t file_offset; /* of the function's first instruction */
};

struct selected_functions {
    struct array places; /* struct selected_place; empty: everything is recorded */
    struct array paths;  /* of char *, owned */
};

/* `names`: separated by commas. A name is a file's path, if it has a slash: all functions of that library. Else it is the file name of one of `objects`, such as
 * libz.so.1, perhaps without what follows its first dot: likewise. Else it is a function's name or pattern, as -args takes them: of the
 * first object that has any. `objects`: paths of the executable, then of its libraries. */
bool selected_functions_find(struct selected_functions *selected, const char *names,
                             const char *const *objects, size_t object_count, struct error *error);
void selected_functions_free(struct selected_functions *selected);

#endif
