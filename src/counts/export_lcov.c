/* lcov's tracefile: coverage of lines, functions and branches, for genhtml and others.
 *
 * Of the program and the libraries that are its own, not of those of the system. Functions are
 * those that ran; a branch is a conditional jump of the code, which may be one of several that a
 * condition was compiled to.
 *
 * Source: geninfo(1), "TRACEFILE FORMAT".
 */
#include "base/memory.h"
#include "counts/counts_export.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* A function or a branch, at a line. */
struct item {
    uint32_t file, line;
    const char *name; /* of functions */
    uint64_t first;   /* calls; not taken */
    uint64_t second;  /* taken */
};

static int compare_items(const void *left, const void *right)
{
    const struct item *a = left, *b = right;
    if (a->file != b->file)
        return a->file < b->file ? -1 : 1;
    return (a->line > b->line) - (a->line < b->line);
}

static bool is_own(const struct counts_export *export, const struct code_place_key *place)
{
    function_id id = code_counts_function(export->counts, place).function;
    return symbols_function(export->counts->symbols, id)->owner == CODE_OF_PROGRAM;
}

static const struct line_count *line_of(const struct counts_export *export, size_t index)
{
    uint32_t line = *(uint32_t *)array_at(&export->lines->of_code, index);
    return line > 0 ? array_at(&export->lines->lines, line - 1) : NULL;
}

/* Functions that ran, at their first instruction. */
static struct array find_functions(const struct counts_export *export)
{
    struct array found = array_of(sizeof(struct item));
    for (size_t i = 0; i < export->counts->instructions.count; i++) {
        const struct instruction_count *at = array_at(&export->counts->instructions, i);
        const struct line_count *line = line_of(export, i);
        struct function_bounds bounds = code_counts_function(export->counts, &at->at);
        const struct function *function =
            symbols_function(export->counts->symbols, bounds.function);
        if (line && bounds.start == at->at.offset && function->symbol &&
            function->owner == CODE_OF_PROGRAM)
            *(struct item *)array_add(&found) = (struct item){
                .file = line->file, .line = line->line, .name = function->name, .first = at->count};
    }
    if (found.count > 1)
        qsort(found.elements, found.count, found.element_size, compare_items);
    return found;
}

static void count_ways(const struct code_counts *counts, const struct code_place_key *place,
                       struct item *item, bool *conditional)
{
    for (size_t i = code_counts_first(&counts->branches, place); i < counts->branches.count; i++) {
        const struct branch_count *branch = array_at(&counts->branches, i);
        if (code_place_compare(&branch->from, place) != 0)
            return;
        *conditional |= branch->kind == STEP_TAKEN || branch->kind == STEP_NOT_TAKEN;
        item->second += branch->kind == STEP_TAKEN ? branch->count : 0;
        item->first += branch->kind == STEP_NOT_TAKEN ? branch->count : 0;
    }
}

static struct array find_branches(const struct counts_export *export)
{
    struct array found = array_of(sizeof(struct item));
    for (size_t i = 0; i < export->counts->instructions.count; i++) {
        const struct instruction_count *at = array_at(&export->counts->instructions, i);
        const struct line_count *line = line_of(export, i);
        struct item item = {0};
        bool conditional = false;
        count_ways(export->counts, &at->at, &item, &conditional);
        if (!line || !conditional || !is_own(export, &at->at))
            continue;
        item.file = line->file;
        item.line = line->line;
        *(struct item *)array_add(&found) = item;
    }
    if (found.count > 1)
        qsort(found.elements, found.count, found.element_size, compare_items);
    return found;
}

/* Which files have lines of the program's own code. */
static bool *find_own_files(const struct counts_export *export)
{
    bool *own = memory_allocate_zeroed(export->lines->files.count + 1);
    for (size_t i = 0; i < export->counts->instructions.count; i++) {
        const struct instruction_count *at = array_at(&export->counts->instructions, i);
        const struct line_count *line = line_of(export, i);
        if (line && !own[line->file])
            own[line->file] = is_own(export, &at->at);
    }
    return own;
}

static void write_functions(const struct array *functions, uint32_t file, FILE *stream)
{
    uint64_t count = 0;
    for (size_t i = 0; i < functions->count; i++) {
        const struct item *item = array_at(functions, i);
        if (item->file != file)
            continue;
        fprintf(stream, "FN:%" PRIu32 ",%s\nFNDA:%" PRIu64 ",%s\n", item->line, item->name,
                item->first, item->name);
        count++;
    }
    fprintf(stream, "FNF:%" PRIu64 "\nFNH:%" PRIu64 "\n", count, count);
}

static void write_branches(const struct array *branches, uint32_t file, FILE *stream)
{
    uint64_t count = 0, hit = 0;
    uint32_t line = 0, block = 0;
    for (size_t i = 0; i < branches->count; i++) {
        const struct item *item = array_at(branches, i);
        if (item->file != file)
            continue;
        block = item->line == line ? block + 1 : 0;
        line = item->line;
        fprintf(stream,
                "BRDA:%" PRIu32 ",%" PRIu32 ",0,%" PRIu64 "\nBRDA:%" PRIu32 ",%" PRIu32
                ",1,%" PRIu64 "\n",
                line, block, item->second, line, block, item->first);
        count += 2;
        hit += (item->first > 0) + (item->second > 0);
    }
    fprintf(stream, "BRF:%" PRIu64 "\nBRH:%" PRIu64 "\n", count, hit);
}

static void write_lines(const struct line_counts *lines, uint32_t file, FILE *stream)
{
    uint64_t count = 0, hit = 0;
    for (size_t i = 0; i < lines->lines.count; i++) {
        const struct line_count *line = array_at(&lines->lines, i);
        if (line->file != file)
            continue;
        fprintf(stream, "DA:%" PRIu32 ",%" PRIu64 "\n", line->line, line->count);
        count++;
        hit += line->count > 0;
    }
    fprintf(stream, "LF:%" PRIu64 "\nLH:%" PRIu64 "\n", count, hit);
}

void export_lcov_write(const struct counts_export *export, FILE *stream)
{
    struct array functions = find_functions(export), branches = find_branches(export);
    bool *own = find_own_files(export);
    for (uint32_t file = 0; file < export->lines->files.count; file++) {
        if (!own[file])
            continue;
        fprintf(stream, "TN:\nSF:%s\n", *(const char **)array_at(&export->lines->files, file));
        write_functions(&functions, file, stream);
        write_branches(&branches, file, stream);
        write_lines(export->lines, file, stream);
        fputs("end_of_record\n", stream);
    }
    free(own);
    array_free(&functions);
    array_free(&branches);
}
