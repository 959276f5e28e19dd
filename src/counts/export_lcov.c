/* lcov's tracefile: coverage of lines, functions and branches, for genhtml and others.
 *
 * Of the program and the libraries that are its own, not of those of the system. Like geninfo's of what gcov counts,
 * if the code is that of -O0: functions by their symbol, at the line of their name, also those that never ran; branches
 * are the conditional jumps of the code, each with its two ways, numbered per function and line. docs/decoding.md says what differs from gcov, and why.
 *
 * Source: geninfo(1), "TRACEFILE FORMAT"; geninfo of lcov 1.16.
 */
#include "base/memory.h"
#include "counts/counts_export.h"
#include "counts/own_functions.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct called_function {
    uint32_t file, line;
    const char *symbol;
    uint64_t calls;
};

/* A conditional jump. */
struct condition {
    uint32_t file, line;
    function_id function;
    uint64_t offset; /* in the code's file: the order of those of one line */
    bool ran;
    uint64_t ways[2]; /* how often it went each way: see jump_is_first */
};

/* What is written, beside the lines. */
struct coverage {
    const struct counts_export *export;
    struct array functions;  /* struct called_function */
    struct array conditions; /* struct condition */
    bool *own;               /* by file: whether it has code of the program's own */
    uint32_t last_file;      /* that was found: what is next to it mostly is of the same one */
};

static int compare_lines(uint32_t left_file, uint32_t left, uint32_t right_file, uint32_t right)
{
    if (left_file != right_file)
        return left_file < right_file ? -1 : 1;
    return (left > right) - (left < right);
}

static int compare_functions(const void *left, const void *right)
{
    const struct called_function *a = left, *b = right;
    int order = compare_lines(a->file, a->line, b->file, b->line);
    return order != 0 ? order : strcmp(a->symbol, b->symbol);
}

static int compare_conditions(const void *left, const void *right)
{
    const struct condition *a = left, *b = right;
    int order = compare_lines(a->file, a->line, b->file, b->line);
    if (order == 0 && a->function != b->function)
        order = a->function < b->function ? -1 : 1;
    return order != 0 ? order : (a->offset > b->offset) - (a->offset < b->offset);
}

/* Finds the file among those of which lines are counted. */
static bool find_file(struct coverage *coverage, const char *path, uint32_t *file)
{
    const struct array *files = &coverage->export->lines->files;
    for (size_t i = 0; path && i < files->count; i++) {
        uint32_t index = (uint32_t)((coverage->last_file + i) % files->count);
        if (strcmp(*(const char **)array_at(files, index), path) == 0) {
            *file = coverage->last_file = index;
            return true;
        }
    }
    return false;
}

static void add_function(struct coverage *coverage, const struct own_function *range)
{
    const struct code_counts *counts = coverage->export->counts;
    struct declared_function declared = symbols_declared(counts->symbols, range->function);
    if (!declared.symbol)
        declared.symbol = symbols_function(counts->symbols, range->function)->symbol;
    if (!declared.name.file)
        declared.name = symbols_line(counts->symbols, range->function);
    uint32_t file;
    if (!find_file(coverage, declared.name.file, &file))
        return;
    *(struct called_function *)array_add(&coverage->functions) = (struct called_function){
        .file = file,
        .line = declared.name.line,
        .symbol = declared.symbol,
        .calls = code_counts_at(counts, &range->start),
    };
}

static struct source_line line_at(const struct code_counts *counts, const struct image_file *file,
                                  uint64_t offset)
{
    struct mapping mapping = code_counts_mapping(file);
    return symbols_line_at(counts->symbols, &mapping, offset);
}

/* Whether the way that jumps is the first one: as gcov has it, that to the code which GCC has first. This is the order
 * of addresses, but that GCC puts a `break`, `continue` or `goto` after the code that follows upon it. */
static bool jump_is_first(const struct code_counts *counts, const struct image_file *file,
                          uint64_t at, const struct x86_instruction *jump)
{
    if (jump->target <= at)
        return true;
    struct source_line line = line_at(counts, file, at);
    struct source_line jumped = line_at(counts, file, jump->target);
    struct source_line next = line_at(counts, file, at + jump->length);
    return jumped.line >= line.line && jumped.line < next.line;
}

static void count_ways(const struct code_counts *counts, const struct code_place_key *place,
                       bool jump_first, struct condition *condition)
{
    for (size_t i = code_counts_first(&counts->branches, place); i < counts->branches.count; i++) {
        const struct branch_count *branch = array_at(&counts->branches, i);
        if (code_place_compare(&branch->from, place) != 0)
            return;
        if (branch->kind == STEP_TAKEN || branch->kind == STEP_NOT_TAKEN)
            condition->ways[(branch->kind == STEP_TAKEN) != jump_first] += branch->count;
    }
}

static void add_condition(struct coverage *coverage, const struct own_function *range,
                          uint64_t offset, const struct x86_instruction *jump)
{
    const struct code_counts *counts = coverage->export->counts;
    struct code_place_key place = {range->start.file, offset};
    struct source_line line = line_at(counts, place.file, offset);
    struct condition condition = {.line = line.line, .function = range->function, .offset = offset};
    if (line.line == 0 || !find_file(coverage, line.file, &condition.file))
        return;
    condition.ran = code_counts_at(counts, &place) > 0;
    count_ways(counts, &place, jump_is_first(counts, place.file, offset, jump), &condition);
    coverage->own[condition.file] = true;
    *(struct condition *)array_add(&coverage->conditions) = condition;
}

static void add_conditions(struct coverage *coverage, const struct own_function *range)
{
    struct x86_instruction decoded;
    for (uint64_t at = range->start.offset;
         at < range->end && own_functions_decode(range->start.file, at, &decoded);
         at += decoded.length)
        if (decoded.flow == X86_CONDITIONAL)
            add_condition(coverage, range, at, &decoded);
}

static void find_own_files(struct coverage *coverage)
{
    const struct counts_export *export = coverage->export;
    for (size_t i = 0; i < export->counts->instructions.count; i++) {
        const struct instruction_count *at = array_at(&export->counts->instructions, i);
        uint32_t line = *(uint32_t *)array_at(&export->lines->of_code, i);
        function_id id = code_counts_function(export->counts, &at->at).function;
        if (line > 0 && symbols_function(export->counts->symbols, id)->owner == CODE_OF_PROGRAM)
            coverage->own[((struct line_count *)array_at(&export->lines->lines, line - 1))->file] =
                true;
    }
}

static struct coverage find_coverage(const struct counts_export *export)
{
    struct coverage coverage = {
        .export = export,
        .functions = array_of(sizeof(struct called_function)),
        .conditions = array_of(sizeof(struct condition)),
        .own = memory_allocate_zeroed(export->lines->files.count + 1),
    };
    struct array ranges = own_functions_find(export->counts);
    find_own_files(&coverage);
    for (size_t i = 0; i < ranges.count; i++) {
        const struct own_function *range = array_at(&ranges, i);
        if (range->begins)
            add_function(&coverage, range);
        add_conditions(&coverage, range);
    }
    array_free(&ranges);
    if (coverage.functions.count > 1)
        qsort(coverage.functions.elements, coverage.functions.count,
              coverage.functions.element_size, compare_functions);
    if (coverage.conditions.count > 1)
        qsort(coverage.conditions.elements, coverage.conditions.count,
              coverage.conditions.element_size, compare_conditions);
    return coverage;
}

static void write_functions(const struct array *functions, uint32_t file, FILE *stream)
{
    uint64_t count = 0, hit = 0;
    for (size_t i = 0; i < functions->count; i++) {
        const struct called_function *function = array_at(functions, i);
        if (function->file != file)
            continue;
        fprintf(stream, "FN:%" PRIu32 ",%s\nFNDA:%" PRIu64 ",%s\n", function->line,
                function->symbol, function->calls, function->symbol);
        count++;
        hit += function->calls > 0;
    }
    fprintf(stream, "FNF:%" PRIu64 "\nFNH:%" PRIu64 "\n", count, hit);
}

static bool is_same_line(const struct condition *left, const struct condition *right)
{
    return left->file == right->file && left->line == right->line &&
           left->function == right->function;
}

/* Writes those of one line and function; `-`: control never came to any of them. */
static void write_line_of_branches(const struct condition *first, size_t count, FILE *stream)
{
    size_t end = 0;
    bool ran = false;
    for (; end < count && is_same_line(first, &first[end]); end++)
        ran |= first[end].ran;
    for (size_t way = 0; way < 2 * end; way++) {
        fprintf(stream, "BRDA:%" PRIu32 ",0,%zu,", first->line, way);
        if (ran)
            fprintf(stream, "%" PRIu64 "\n", first[way / 2].ways[way % 2]);
        else
            fputs("-\n", stream);
    }
}

static void write_branches(const struct array *conditions, uint32_t file, FILE *stream)
{
    const struct condition *all = conditions->elements;
    uint64_t count = 0, hit = 0;
    for (size_t i = 0; i < conditions->count; i++) {
        if (all[i].file != file)
            continue;
        if (i == 0 || !is_same_line(&all[i - 1], &all[i]))
            write_line_of_branches(&all[i], conditions->count - i, stream);
        count += 2;
        hit += (all[i].ways[0] > 0) + (all[i].ways[1] > 0);
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
    struct coverage coverage = find_coverage(export);
    for (uint32_t file = 0; file < export->lines->files.count; file++) {
        if (!coverage.own[file])
            continue;
        fprintf(stream, "TN:\nSF:%s\n", *(const char **)array_at(&export->lines->files, file));
        write_functions(&coverage.functions, file, stream);
        write_branches(&coverage.conditions, file, stream);
        write_lines(export->lines, file, stream);
        fputs("end_of_record\n", stream);
    }
    free(coverage.own);
    array_free(&coverage.functions);
    array_free(&coverage.conditions);
}
