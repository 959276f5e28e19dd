#include "symbol/cold_part.h"

#include "base/array.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static size_t drop_end(const char *name, size_t size, const char *end)
{
    size_t length = strlen(end);
    bool ends = size > length && memcmp(name + size - length, end, length) == 0;
    return ends ? size - length : size;
}

/* Without ".12". */
static size_t drop_number(const char *name, size_t size)
{
    size_t digits = size;
    while (digits > 0 && name[digits - 1] >= '0' && name[digits - 1] <= '9')
        digits--;
    return digits > 0 && digits < size && name[digits - 1] == '.' ? digits - 1 : size;
}

size_t cold_part_main_length(const char *name, size_t size)
{
    size_t end = drop_end(name, size, "]");
    size_t numbered = drop_number(name, end);
    size_t main_part = drop_end(name, numbered, ".cold");
    if (main_part == numbered || end == size)
        return main_part == numbered ? 0 : main_part;
    size_t demangled = drop_end(name, main_part, " [clone ");
    return demangled == main_part ? 0 : demangled;
}

static size_t main_part_length(const char *name)
{
    return cold_part_main_length(name, strlen(name));
}

static bool is_cold_part(const struct code_symbol *symbol)
{
    return symbol->kind == CODE_FUNCTION && symbol->name && main_part_length(symbol->name) > 0;
}

static int compare_names(const void *left, const void *right)
{
    const struct code_symbol *const *a = left, *const *b = right;
    return strcmp((*a)->name, (*b)->name);
}

/* The first of `by_name` (of const struct code_symbol *) that is not before the first `length`
 * bytes of `name`. */
static size_t first_with_name(const struct array *by_name, const char *name, size_t length)
{
    size_t low = 0, high = by_name->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const struct code_symbol *symbol = *(const struct code_symbol **)array_at(by_name, middle);
        if (strncmp(symbol->name, name, length) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* How many different functions were candidates, and the last of them. */
struct candidates {
    size_t count;
    uint32_t function;
};

static void add_candidate(struct candidates *candidates, uint32_t function)
{
    if (candidates->count == 0 || candidates->function != function)
        candidates->count++;
    candidates->function = function;
}

static void join(const struct code_symbol *symbols, size_t index, const struct array *by_name,
                 uint32_t *function_of)
{
    const struct code_symbol *cold = &symbols[index];
    size_t length = main_part_length(cold->name);
    struct candidates anywhere = {0}, same_file = {0};
    for (size_t i = first_with_name(by_name, cold->name, length); i < by_name->count; i++) {
        const struct code_symbol *symbol = *(const struct code_symbol **)array_at(by_name, i);
        if (strncmp(symbol->name, cold->name, length) != 0)
            break;
        if (symbol->name[length] != 0)
            break; /* longer names sort after the exact ones */
        uint32_t function = function_of[symbol - symbols];
        add_candidate(&anywhere, function);
        if (symbol->binding == CODE_LOCAL && symbol->source_file == cold->source_file)
            add_candidate(&same_file, function);
    }
    if (anywhere.count == 1)
        function_of[index] = anywhere.function;
    else if (same_file.count == 1)
        function_of[index] = same_file.function;
}

void cold_parts_join(const struct code_symbol *symbols, size_t count, uint32_t *function_of)
{
    struct array by_name = array_of(sizeof(const struct code_symbol *));
    bool any = false;
    for (size_t i = 0; i < count && !any; i++)
        any = is_cold_part(&symbols[i]);
    if (!any)
        return;
    for (size_t i = 0; i < count; i++)
        if (symbols[i].kind == CODE_FUNCTION && symbols[i].name)
            *(const struct code_symbol **)array_add(&by_name) = &symbols[i];
    qsort(by_name.elements, by_name.count, by_name.element_size, compare_names);
    for (size_t i = 0; i < count; i++)
        if (is_cold_part(&symbols[i]))
            join(symbols, i, &by_name, function_of);
    array_free(&by_name);
}
