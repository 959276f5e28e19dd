#include "index/build/function_catalog.h"

#include "index/trace_index.h"
#include "output/same_name.h"

#include <uthash.h>

struct met_function {
    const struct span_function *function;
    uint64_t address;
    uint64_t calls;
};

/* The id that a function of the source had last. */
struct recent_id {
    uint32_t id_and_one; /* 0: not met yet */
    uint32_t first;      /* the id it had first */
    uint64_t address;
};

struct address_key {
    uint64_t function; /* index */
    uint64_t address;
};

struct function_at_address {
    struct address_key key;
    uint32_t id;
    UT_hash_handle hh;
};

void function_catalog_init(struct function_catalog *catalog)
{
    *catalog = (struct function_catalog){
        .recent = array_of(sizeof(struct recent_id)),
        .functions = array_of(sizeof(struct met_function)),
    };
}

void function_catalog_free(struct function_catalog *catalog)
{
    HASH_CLEAR(hh, catalog->others);
    array_free(&catalog->recent);
    array_free(&catalog->functions);
    arena_free(&catalog->memory);
}

static uint32_t add_function(struct function_catalog *catalog, const struct span_function *function,
                             uint64_t address)
{
    *(struct met_function *)array_add(&catalog->functions) =
        (struct met_function){.function = function, .address = address};
    return (uint32_t)catalog->functions.count - 1;
}

static uint32_t id_at_address(struct function_catalog *catalog,
                              const struct span_function *function, uint64_t address)
{
    const struct address_key key = {function->index, address};
    struct function_at_address *found;
    HASH_FIND(hh, catalog->others, &key, sizeof key, found);
    if (!found) {
        found = arena_allocate(&catalog->memory, sizeof *found);
        *found = (struct function_at_address){.key = key,
                                              .id = add_function(catalog, function, address)};
        HASH_ADD(hh, catalog->others, key, sizeof key, found);
    }
    return found->id;
}

static void meet(struct function_catalog *catalog, struct recent_id *recent,
                 const struct span_function *function, uint64_t address)
{
    if (recent->id_and_one == 0) {
        recent->first = add_function(catalog, function, address);
        recent->id_and_one = recent->first + 1;
        recent->address = address;
        return;
    }
    struct met_function *first = array_at(&catalog->functions, recent->first);
    if (first->address == 0)
        first->address = address;
    uint32_t id =
        first->address == address ? recent->first : id_at_address(catalog, function, address);
    recent->id_and_one = id + 1;
    recent->address = address;
}

uint32_t function_catalog_call(struct function_catalog *catalog,
                               const struct span_function *function, uint64_t address)
{
    while (catalog->recent.count <= function->index)
        array_add(&catalog->recent);
    struct recent_id *recent = array_at(&catalog->recent, function->index);
    if (recent->id_and_one == 0 || (address != 0 && recent->address != address))
        meet(catalog, recent, function, address);
    uint32_t id = recent->id_and_one - 1;
    ((struct met_function *)array_at(&catalog->functions, id))->calls++;
    return id;
}

static enum index_colour colour_of(const struct span_function *function)
{
    if (function->special)
        return INDEX_SPECIAL;
    switch (function->origin) {
    case SPAN_OWN:
        return INDEX_OWN;
    case SPAN_LIBRARY:
        return INDEX_LIBRARY;
    case SPAN_KERNEL:
        return INDEX_KERNEL;
    case SPAN_INLINED:
        return INDEX_INLINED;
    }
    return INDEX_OWN;
}

void function_catalog_write(const struct function_catalog *catalog, struct string_pool *strings,
                            struct index_file *file)
{
    struct same_name names;
    same_name_init(&names);
    for (size_t i = 0; i < catalog->functions.count; i++) {
        const struct met_function *met = array_at(&catalog->functions, i);
        const struct span_function *function = met->function;
        /* Met in the order of ids, so the first of a name has the smallest. */
        const struct span_function *group = same_name_first(&names, function);
        const struct recent_id *named = array_at(&catalog->recent, group->index);
        const struct function_record record = {
            .name = string_pool_add_name(strings, function->name),
            .symbol = string_pool_add(strings, function->symbol),
            .file = string_pool_add(strings, function->file),
            .line = function->line,
            .address = met->address,
            .calls = met->calls,
            .group = named->first,
            .colour = colour_of(function),
        };
        index_file_append(file, &record, sizeof record);
    }
    same_name_free(&names);
}
