#include "output/same_name.h"

#include <string.h>
#include <uthash.h>

struct same_name_entry {
    const struct span_function *first;
    UT_hash_handle hh; /* by its name */
};

void same_name_init(struct same_name *names)
{
    *names = (struct same_name){.by_index = array_of(sizeof(const struct span_function *))};
}

void same_name_free(struct same_name *names)
{
    HASH_CLEAR(hh, names->entries);
    array_free(&names->by_index);
    arena_free(&names->memory);
}

static const struct span_function *find_by_name(struct same_name *names,
                                                const struct span_function *function)
{
    struct same_name_entry *found;
    HASH_FIND_STR(names->entries, function->name, found);
    if (!found) {
        found = arena_allocate(&names->memory, sizeof *found);
        found->first = function;
        HASH_ADD_KEYPTR(hh, names->entries, function->name, strlen(function->name), found);
    }
    return found->first;
}

const struct span_function *same_name_first(struct same_name *names,
                                            const struct span_function *function)
{
    while (names->by_index.count <= function->index)
        array_add(&names->by_index);
    const struct span_function **first = array_at(&names->by_index, function->index);
    if (!*first)
        *first = find_by_name(names, function);
    return *first;
}
