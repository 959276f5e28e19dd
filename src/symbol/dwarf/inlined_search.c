#include "symbol/dwarf/inlined_search.h"

#include "symbol/dwarf/inlined_entry.h"
#include "symbol/function_list.h"
#include "symbol/go/go_inlined.h"

#include <dwarf.h>
#include <string.h>

enum {
    DEPTH_MAX = 200,      /* of entries inside each other; compilers stay far below */
    RANGES_MAX = 1 << 10, /* of one call */
};

struct inlined_query {
    const struct searched_object *searched;
    const char *function;
    struct array *places;
    struct array ranges; /* struct ranked_range: of the call that is looked at */
    Dwarf_Off last;      /* entries only ever follow each other */
    Dwarf_Off origin;    /* the newest one that was compared, which had the name or not */
    bool origin_fits;
};

/* Most functions' plain names have no part of what was written, so that theirs need not be
 * demangled. */
static bool has_name(const char *function, Dwarf_Die *origin)
{
    Dwarf_Attribute attribute;
    const char *plain = dwarf_formstring(dwarf_attr_integrate(origin, DW_AT_name, &attribute));
    const char *symbol =
        dwarf_formstring(dwarf_attr_integrate(origin, DW_AT_linkage_name, &attribute));
    if (!plain || !strstr(function, plain))
        return false;
    return function_symbol_is(symbol ? symbol : plain, function);
}

static bool is_wanted(struct inlined_query *query, Dwarf_Die *call)
{
    Dwarf_Attribute attribute;
    Dwarf_Die origin;
    if (!dwarf_formref_die(dwarf_attr(call, DW_AT_abstract_origin, &attribute), &origin))
        return false;
    Dwarf_Off offset = dwarf_dieoffset(&origin);
    if (query->origin != offset) {
        query->origin = offset;
        query->origin_fits = has_name(query->function, &origin);
    }
    return query->origin_fits;
}

static void add_call(struct inlined_query *query, Dwarf_Die *call)
{
    Dwarf_Addr base, start, end;
    query->ranges.count = 0;
    for (ptrdiff_t offset = 0; query->ranges.count < RANGES_MAX &&
                               (offset = dwarf_ranges(call, offset, &base, &start, &end)) > 0;)
        if (start < end)
            *(struct ranked_range *)array_add(&query->ranges) =
                (struct ranked_range){.start = start, .end = end};
    if (query->ranges.count > 0)
        searched_object_add(
            query->searched,
            inlined_entry_read(call, query->ranges.elements, query->ranges.count, 0) +
                query->searched->bias,
            query->places);
}

/* Calls are inside of functions, which are inside of all that gives them a name. */
static void search_entries(struct inlined_query *query, Dwarf_Die *parent, unsigned depth)
{
    Dwarf_Die entry;
    if (depth > DEPTH_MAX || dwarf_child(parent, &entry) != 0)
        return;
    do {
        if (dwarf_dieoffset(&entry) <= query->last)
            return; /* damaged */
        query->last = dwarf_dieoffset(&entry);
        if (dwarf_tag(&entry) == DW_TAG_inlined_subroutine && is_wanted(query, &entry))
            add_call(query, &entry);
        if (dwarf_haschildren(&entry) > 0)
            search_entries(query, &entry, depth + 1);
    } while (dwarf_siblingof(&entry, &entry) == 0);
}

/* Where calls of the function begin in one of Go's. */
static void search_go_function(const struct inlined_query *query,
                               const struct pclntab_function *function)
{
    bool damaged = false;
    struct inlined_code code =
        go_inlined_read(query->searched->object->go, function->entry, function->end, &damaged);
    for (size_t i = 1; i < code.calls.count; i++) {
        const struct inlined_call *call = array_at(&code.calls, i);
        const struct inlined_nesting *nesting = array_at(&code.nesting, i);
        if (strcmp(call->symbol, query->function) == 0)
            searched_object_add(query->searched, nesting->entry, query->places);
    }
    inlined_code_free(&code);
}

static void search_go(const struct inlined_query *query)
{
    const struct pclntab *table = query->searched->object->go;
    struct pclntab_function function;
    for (uint32_t i = 0; i < table->function_count; i++)
        if (pclntab_function(table, i, &function))
            search_go_function(query, &function);
}

static void search_units(struct inlined_query *query)
{
    Dwarf_CU *unit = NULL;
    Dwarf_Die die;
    while (dwarf_get_units(query->searched->debug, unit, &unit, NULL, NULL, &die, NULL) == 0) {
        query->last = dwarf_dieoffset(&die);
        search_entries(query, &die, 0);
    }
}

bool inlined_search(const char *object, const char *function, struct array *places,
                    struct error *error)
{
    struct searched_object searched;
    if (!searched_object_open(&searched, object, error))
        return false;
    struct inlined_query query = {
        .searched = &searched,
        .function = function,
        .places = places,
        .ranges = array_of(sizeof(struct ranked_range)),
    };
    if (searched.debug)
        search_units(&query);
    else
        search_go(&query);
    code_places_sort(places);
    array_free(&query.ranges);
    searched_object_close(&searched);
    return places->count > 0 ||
           error_set(error, ERROR_NOT_FOUND, "%s is inlined nowhere in %s.", function, object);
}
