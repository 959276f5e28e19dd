#include "symbol/go/go_lines.h"

#include <stddef.h>

/* The value of a table of the function at `address`; -1: it has none there. */
static int32_t value_at(const struct pclntab *table, const struct pclntab_function *function,
                        uint32_t offset, uint64_t address)
{
    struct pclntab_values values = pclntab_values(table, function, offset);
    struct pclntab_value value;
    while (pclntab_values_next(&values, &value))
        if (address < value.end)
            return value.value;
    return -1;
}

struct source_line go_lines_find(const struct pclntab *table, uint64_t address)
{
    struct pclntab_function function;
    if (!pclntab_find(table, address, &function))
        return (struct source_line){0};
    int32_t line =
        value_at(table, &function, pclntab_field(table, &function, PCLNTAB_LINE), address);
    int32_t file =
        value_at(table, &function, pclntab_field(table, &function, PCLNTAB_FILE), address);
    const char *path = pclntab_file(table, &function, file);
    return path && line > 0 ? (struct source_line){path, (uint32_t)line} : (struct source_line){0};
}

/* A table of values that is read alongside others. */
struct column {
    struct pclntab_values values;
    struct pclntab_value now; /* end 0: none yet */
};

static struct column column_of(const struct pclntab *table, const struct pclntab_function *function,
                               uint32_t offset)
{
    return (struct column){.values = pclntab_values(table, function, offset), .now = {.value = -1}};
}

/* Goes to the value at `address`. */
static void advance(struct column *column, uint64_t address)
{
    while (column->now.end <= address && pclntab_values_next(&column->values, &column->now))
        ;
    if (column->now.end <= address)
        column->now = (struct pclntab_value){.end = UINT64_MAX, .value = -1};
}

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static void visit_function(const struct pclntab *table, const struct pclntab_function *function,
                           void (*visit)(void *, const struct go_line_row *), void *context)
{
    struct column lines = column_of(table, function, pclntab_field(table, function, PCLNTAB_LINE));
    struct column files = column_of(table, function, pclntab_field(table, function, PCLNTAB_FILE));
    struct column inlined =
        column_of(table, function, pclntab_value_table(table, function, PCLNTAB_INLINED_INDEX));
    for (uint64_t at = function->entry; at < function->end;) {
        advance(&lines, at);
        advance(&files, at);
        advance(&inlined, at);
        struct go_line_row row = {
            .path = pclntab_file(table, function, files.now.value),
            .line = lines.now.value > 0 ? (uint32_t)lines.now.value : 0,
            .address = at,
            .scope = (uint64_t)(function->index + 1) << 32 | (uint32_t)(inlined.now.value + 1),
        };
        if (row.path && row.line > 0)
            visit(context, &row);
        at = least(lines.now.end, least(files.now.end, inlined.now.end));
    }
}

void go_lines_visit(const struct pclntab *table,
                    void (*visit)(void *context, const struct go_line_row *row), void *context)
{
    struct pclntab_function function;
    for (uint32_t i = 0; i < table->function_count; i++)
        if (pclntab_function(table, i, &function))
            visit_function(table, &function, visit, context);
}
