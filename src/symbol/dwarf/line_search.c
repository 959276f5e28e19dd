#include "symbol/dwarf/line_search.h"

#include "symbol/dwarf/searched_object.h"
#include "symbol/dwarf/source_lines.h"
#include "symbol/go/go_lines.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A row of a line table that begins a statement. */
struct line_row {
    Dwarf_Die unit;
    const char *path;
    uint32_t line, column;
    Dwarf_Addr address; /* as DWARF has it */
    uint64_t scope;     /* 0: DWARF knows */
};

/* Calls `visit` with every row that begins a statement. */
static void visit_unit(Dwarf_Die *unit, void (*visit)(void *, const struct line_row *),
                       void *context)
{
    Dwarf_Lines *rows;
    size_t count;
    if (dwarf_getsrclines(unit, &rows, &count) != 0)
        return;
    for (size_t i = 0; i < count; i++) {
        Dwarf_Line *at = dwarf_onesrcline(rows, i);
        struct line_row row = {.unit = *unit, .path = dwarf_linesrc(at, NULL, NULL)};
        bool statement = false, end = true;
        int line = 0, column = 0;
        if (!row.path || dwarf_linebeginstatement(at, &statement) != 0 || !statement ||
            dwarf_lineendsequence(at, &end) != 0 || end || dwarf_lineno(at, &line) != 0 ||
            line <= 0 || dwarf_lineaddr(at, &row.address) != 0)
            continue;
        dwarf_linecol(at, &column);
        row.line = (uint32_t)line;
        row.column = column > 0 ? (uint32_t)column : 0;
        visit(context, &row);
    }
}

/* Passes Go's rows on. */
struct go_visit {
    void (*visit)(void *, const struct line_row *);
    void *context;
};

static void visit_go_row(void *context, const struct go_line_row *found)
{
    const struct go_visit *go = context;
    const struct line_row row = {
        .path = found->path, .line = found->line, .address = found->address, .scope = found->scope};
    go->visit(go->context, &row);
}

static void visit_rows(const struct searched_object *tables,
                       void (*visit)(void *, const struct line_row *), void *context)
{
    Dwarf_CU *unit = NULL;
    Dwarf_Die die;
    if (!tables->debug) {
        go_lines_visit(tables->object->go, visit_go_row, &(struct go_visit){visit, context});
        return;
    }
    while (dwarf_get_units(tables->debug, unit, &unit, NULL, NULL, &die, NULL) == 0)
        visit_unit(&die, visit, context);
}

static int by_number(const void *left, const void *right)
{
    const uint32_t *a = left, *b = right;
    return (*a > *b) - (*a < *b);
}

/* Sorts uint32_t and keeps each once. */
static void sort_numbers(struct array *numbers)
{
    uint32_t *all = numbers->elements;
    size_t kept = 0;
    if (numbers->count > 1)
        qsort(all, numbers->count, sizeof *all, by_number);
    for (size_t i = 0; i < numbers->count; i++)
        if (kept == 0 || all[kept - 1] != all[i])
            all[kept++] = all[i];
    numbers->count = kept;
}

/* ---- places of a line ---- */

/* A row with the function, or the inlined copy of one, that it belongs to. */
struct line_candidate {
    Dwarf_Off scope;
    uint64_t address; /* the object's own */
};

struct line_query {
    const struct searched_object *tables;
    const struct searched_line *wanted;
    struct array candidates; /* of struct line_candidate */
    bool file_found;
    uint32_t before, after; /* nearest lines with code; 0 none */
    struct array columns;   /* uint32_t: of the line's rows */
};

static Dwarf_Off scope_of(Dwarf_Die *unit, Dwarf_Addr address)
{
    Dwarf_Die *scopes = NULL;
    Dwarf_Off found = 0;
    int count = dwarf_getscopes(unit, address, &scopes);
    for (int i = 0; i < count && !found; i++) {
        int tag = dwarf_tag(&scopes[i]);
        if (tag == DW_TAG_inlined_subroutine || tag == DW_TAG_subprogram)
            found = dwarf_dieoffset(&scopes[i]);
    }
    free(scopes);
    return found;
}

static void consider_row(void *context, const struct line_row *row)
{
    struct line_query *query = context;
    if (!source_path_is(row->path, query->wanted->file))
        return;
    query->file_found = true;
    uint32_t line = query->wanted->line;
    if (row->line < line && row->line > query->before)
        query->before = row->line;
    if (row->line > line && (row->line < query->after || query->after == 0))
        query->after = row->line;
    if (row->line != line)
        return;
    *(uint32_t *)array_add(&query->columns) = row->column;
    if (query->wanted->column && row->column != query->wanted->column)
        return;
    Dwarf_Die unit = row->unit;
    *(struct line_candidate *)array_add(&query->candidates) = (struct line_candidate){
        .scope = row->scope ? row->scope : scope_of(&unit, row->address),
        .address = row->address + query->tables->bias,
    };
}

static int by_scope(const void *left, const void *right)
{
    const struct line_candidate *a = left, *b = right;
    if (a->scope != b->scope)
        return a->scope < b->scope ? -1 : 1;
    return (a->address > b->address) - (a->address < b->address);
}

static void choose_places(struct line_query *query, struct array *places)
{
    struct line_candidate *all = query->candidates.elements;
    size_t count = query->candidates.count;
    qsort(all, count, sizeof *all, by_scope);
    for (size_t i = 0; i < count; i++)
        if (i == 0 || all[i].scope != all[i - 1].scope)
            searched_object_add(query->tables, all[i].address, places);
    code_places_sort(places);
}

/* Of a line that has code, but none at the column. */
static bool explain_no_column(const char *object, struct line_query *query, struct error *error)
{
    enum { NAMED = 8 };
    const struct searched_line *wanted = query->wanted;
    char columns[NAMED * sizeof ", 4294967295" + sizeof " and others"] = "";
    int used = 0;
    sort_numbers(&query->columns);
    for (size_t i = 0; i < query->columns.count && i < NAMED; i++) {
        bool last = i + 1 == query->columns.count;
        used += snprintf(columns + used, sizeof columns - (size_t)used, "%s%u",
                         i == 0 ? ""
                         : last ? " and "
                                : ", ",
                         *(uint32_t *)array_at(&query->columns, i));
    }
    if (query->columns.count > NAMED)
        snprintf(columns + used, sizeof columns - (size_t)used, " and others");
    return error_set(error, ERROR_NOT_FOUND,
                     "there is no code at %s:%u:%u in %s. Leave out the column to take the line, "
                     "which has code at column%s %s.",
                     wanted->file, wanted->line, wanted->column, object,
                     query->columns.count == 1 ? "" : "s", columns);
}

static bool explain_no_code(const char *object, struct line_query *query, struct error *error)
{
    const struct searched_line *wanted = query->wanted;
    if (!query->file_found)
        return error_set(error, ERROR_NOT_FOUND, "%s has no code from a source file %s.", object,
                         wanted->file);
    if (query->columns.count > 0)
        return explain_no_column(object, query, error);
    char nearest[128] = "";
    if (query->before && query->after)
        snprintf(nearest, sizeof nearest, " The nearest lines with code are %u and %u.",
                 query->before, query->after);
    else if (query->before || query->after)
        snprintf(nearest, sizeof nearest, " The nearest line with code is %u.",
                 query->before ? query->before : query->after);
    if (wanted->column)
        return error_set(error, ERROR_NOT_FOUND,
                         "there is no code at %s:%u:%u in %s, nor elsewhere in the line.%s",
                         wanted->file, wanted->line, wanted->column, object, nearest);
    return error_set(error, ERROR_NOT_FOUND, "there is no code at %s:%u in %s.%s", wanted->file,
                     wanted->line, object, nearest);
}

bool line_search(const char *object, const struct searched_line *wanted, struct array *places,
                 struct error *error)
{
    struct searched_object tables;
    if (!searched_object_open(&tables, object, error))
        return false;
    struct line_query query = {
        .tables = &tables,
        .wanted = wanted,
        .candidates = array_of(sizeof(struct line_candidate)),
        .columns = array_of(sizeof(uint32_t)),
    };
    size_t before = places->count;
    visit_rows(&tables, consider_row, &query);
    if (query.candidates.count > 0)
        choose_places(&query, places);
    bool ok = places->count > before || explain_no_code(object, &query, error);
    array_free(&query.columns);
    array_free(&query.candidates);
    searched_object_close(&tables);
    return ok;
}

/* ---- lists to choose from ---- */

struct file_query {
    struct array *files;
    struct arena *memory;
    const char *last; /* libdw's own string: rows of one file share it */
};

static void add_file(void *context, const struct line_row *row)
{
    struct file_query *query = context;
    if (row->path == query->last)
        return;
    query->last = row->path;
    *(const char **)array_add(query->files) = arena_copy_string(query->memory, row->path);
}

static int by_text(const void *left, const void *right)
{
    return strcmp(*(const char *const *)left, *(const char *const *)right);
}

bool line_search_files(const char *object, struct array *files, struct arena *memory,
                       struct error *error)
{
    struct searched_object tables;
    if (!searched_object_open(&tables, object, error))
        return false;
    struct file_query query = {files, memory, NULL};
    visit_rows(&tables, add_file, &query);
    searched_object_close(&tables);
    const char **all = files->elements;
    size_t kept = 0;
    if (files->count > 1)
        qsort(all, files->count, sizeof *all, by_text);
    for (size_t i = 0; i < files->count; i++)
        if (kept == 0 || strcmp(all[kept - 1], all[i]) != 0)
            all[kept++] = all[i];
    files->count = kept;
    return true;
}

struct number_query {
    const char *file;
    struct array *lines;
};

static void add_line(void *context, const struct line_row *row)
{
    struct number_query *query = context;
    if (source_path_is(row->path, query->file))
        *(uint32_t *)array_add(query->lines) = row->line;
}

bool line_search_lines(const char *object, const char *file, struct array *lines,
                       struct error *error)
{
    struct searched_object tables;
    if (!searched_object_open(&tables, object, error))
        return false;
    struct number_query query = {file, lines};
    visit_rows(&tables, add_line, &query);
    searched_object_close(&tables);
    sort_numbers(lines);
    return true;
}
