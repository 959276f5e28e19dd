/* The functions of a trace while its index is built: an id for each (function, address), in the
 * order of their first calls.
 *
 * A function that lies at several addresses (of several processes) has several ids; those of one
 * name are one group. Called by index_builder.c for every span.
 */
#ifndef MAGIC_TRACE_INDEX_BUILD_FUNCTION_CATALOG_H
#define MAGIC_TRACE_INDEX_BUILD_FUNCTION_CATALOG_H

#include "base/arena.h"
#include "base/array.h"
#include "index/build/index_file.h"
#include "index/build/string_pool.h"
#include "stack/spans/span.h"

struct function_catalog {
    struct array recent;    /* of struct recent_id, by the index of the source's function */
    struct array functions; /* of struct met_function, by id */
    struct function_at_address *others; /* those of further addresses */
    struct arena memory;
};

void function_catalog_init(struct function_catalog *catalog);
void function_catalog_free(struct function_catalog *catalog);

/* Counts a call and gives the id. `address` 0 is not known: any of the function's ids will do. */
uint32_t function_catalog_call(struct function_catalog *catalog,
                               const struct span_function *function, uint64_t address);

/* Appends struct function_record of all, by id. The source's functions must still be there. */
void function_catalog_write(const struct function_catalog *catalog, struct string_pool *strings,
                            struct index_file *file);

#endif
