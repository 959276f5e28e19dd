#include "counts/line_counts.h"

#include "x86/decode.h"

#include <stdlib.h>
#include <string.h>

/* A line of an instruction, before the lines are sorted. */
struct found_line {
    uint32_t file, line; /* line 0: unknown */
};

struct finder {
    const struct code_counts *counts;
    struct line_counts *lines;
    struct array found;     /* struct found_line, by index in counts->instructions */
    struct array by_target; /* code_counts_by_target */
};

static uint32_t file_index(struct line_counts *lines, const char *path)
{
    for (size_t i = lines->files.count; i-- > 0;)
        if (strcmp(*(const char **)array_at(&lines->files, i), path) == 0)
            return (uint32_t)i;
    *(const char **)array_add(&lines->files) = arena_copy_string(&lines->memory, path);
    return (uint32_t)(lines->files.count - 1);
}

static struct found_line find_line(const struct finder *finder, const struct code_place_key *place)
{
    struct mapping mapping = code_counts_mapping(place->file);
    struct source_line line = symbols_line_at(finder->counts->symbols, &mapping, place->offset);
    if (!line.file || line.line == 0)
        return (struct found_line){0};
    return (struct found_line){file_index(finder->lines, line.file), line.line};
}

static bool is_same(const struct found_line *left, const struct found_line *right)
{
    return left->line == right->line && left->file == right->file;
}

static void add(struct line_counts *lines, const struct found_line *line, uint64_t count,
                uint64_t cost)
{
    if (line->line != 0)
        *(struct line_count *)array_add(&lines->lines) =
            (struct line_count){line->file, line->line, count, cost};
}

static const struct found_line *line_of(const struct finder *finder,
                                        const struct code_place_key *place)
{
    static const struct found_line unknown = {0};
    const struct array *all = &finder->counts->instructions;
    size_t index = code_counts_first(all, place);
    const struct instruction_count *found = index < all->count ? array_at(all, index) : NULL;
    return found && code_place_compare(&found->at, place) == 0 ? array_at(&finder->found, index)
                                                               : &unknown;
}

/* How often control came to instruction `index` from another line. */
static uint64_t count_arrivals(const struct finder *finder, size_t index)
{
    const struct instruction_count *at = array_at(&finder->counts->instructions, index);
    const struct instruction_count *before =
        index > 0 ? array_at(&finder->counts->instructions, index - 1) : NULL;
    const struct found_line *line = array_at(&finder->found, index);
    uint64_t arrivals = 0, by_branches = 0;
    for (size_t i = code_counts_first(&finder->by_target, &at->at); i < finder->by_target.count;
         i++) {
        const struct branch_count *branch = array_at(&finder->by_target, i);
        if (code_place_compare(&branch->from, &at->at) != 0)
            break;
        if (branch->kind != STEP_TAKEN && branch->kind != STEP_JUMP && branch->kind != STEP_CALL)
            continue;
        by_branches += branch->count;
        if (branch->kind == STEP_CALL || !is_same(line_of(finder, &branch->to), line))
            arrivals += branch->count;
    }
    bool adjacent = before && before->at.file == at->at.file &&
                    before->at.offset + before->size == at->at.offset;
    if (!adjacent || !is_same(array_at(&finder->found, index - 1), line))
        arrivals += at->count > by_branches ? at->count - by_branches : 0;
    return arrivals;
}

/* Adds lines of the function's code that never ran. */
static void add_unexecuted(const struct finder *finder, const struct image_file *file,
                           const struct function_bounds *bounds)
{
    uint64_t at = bounds->start;
    while (at < bounds->end && at < file->view.size) {
        struct x86_instruction decoded;
        struct code_place_key place = {file, at};
        if (!x86_decode(&decoded, file->view.bytes + at, file->view.size - at, at, X86_MODE_64))
            return;
        if (code_counts_at(finder->counts, &place) == 0) {
            struct found_line line = find_line(finder, &place);
            add(finder->lines, &line, 0, 0);
        }
        at += decoded.length;
    }
}

/* Adds those of each function in [at, end) of the file. */
static void add_functions(const struct finder *finder, const struct image_file *file, uint64_t at,
                          uint64_t end)
{
    while (at < end) {
        struct code_place_key place = {file, at};
        struct function_bounds bounds = code_counts_function(finder->counts, &place);
        if (symbols_function(finder->counts->symbols, bounds.function)->symbol)
            add_unexecuted(finder, file, &bounds);
        at = bounds.end > at ? bounds.end : at + 1;
    }
}

/* Of the program and its own libraries all functions; of others those that ran, whose neighbours
 * nobody asks for. */
static void add_unexecuted_of_all(const struct finder *finder)
{
    const struct array *all = &finder->counts->instructions;
    const struct image_file *whole = NULL;
    for (size_t i = 0; i < all->count;) {
        const struct instruction_count *at = array_at(all, i);
        const struct image_file *file = at->at.file;
        struct function_bounds bounds = code_counts_function(finder->counts, &at->at);
        const struct function *function =
            symbols_function(finder->counts->symbols, bounds.function);
        bool own = function->owner == CODE_OF_PROGRAM && file->segment_count > 0;
        for (uint32_t j = 0; own && file != whole && j < file->segment_count; j++)
            if (file->segments[j].executable)
                add_functions(finder, file, file->segments[j].file_offset,
                              file->segments[j].file_offset + file->segments[j].file_size);
        if (own)
            whole = file;
        else if (function->symbol)
            add_unexecuted(finder, file, &bounds);
        struct code_place_key end = {file, own ? UINT64_MAX : bounds.end};
        size_t next = code_counts_first(all, &end);
        i = next > i ? next : i + 1;
    }
}

static int compare_lines(const void *left, const void *right)
{
    const struct line_count *a = left, *b = right;
    if (a->file != b->file)
        return a->file < b->file ? -1 : 1;
    return (a->line > b->line) - (a->line < b->line);
}

static void merge_lines(struct array *lines)
{
    size_t kept = 0;
    if (lines->count > 1)
        qsort(lines->elements, lines->count, lines->element_size, compare_lines);
    for (size_t i = 0; i < lines->count; i++) {
        const struct line_count *next = array_at(lines, i);
        struct line_count *last = kept > 0 ? array_at(lines, kept - 1) : NULL;
        if (last && compare_lines(last, next) == 0) {
            last->count += next->count;
            last->cost += next->cost;
        } else {
            *(struct line_count *)array_at(lines, kept++) = *next;
        }
    }
    lines->count = kept;
}

void line_counts_find(struct line_counts *lines, const struct code_counts *counts)
{
    *lines = (struct line_counts){
        .files = array_of(sizeof(const char *)),
        .lines = array_of(sizeof(struct line_count)),
        .of_code = array_of(sizeof(uint32_t)),
    };
    struct finder finder = {
        .counts = counts,
        .lines = lines,
        .found = array_of(sizeof(struct found_line)),
        .by_target = code_counts_by_target(counts),
    };
    for (size_t i = 0; i < counts->instructions.count; i++) {
        const struct instruction_count *at = array_at(&counts->instructions, i);
        *(struct found_line *)array_add(&finder.found) = find_line(&finder, &at->at);
    }
    for (size_t i = 0; i < counts->instructions.count; i++) {
        const struct instruction_count *at = array_at(&counts->instructions, i);
        add(lines, array_at(&finder.found, i), count_arrivals(&finder, i), at->count);
    }
    add_unexecuted_of_all(&finder);
    merge_lines(&lines->lines);
    for (size_t i = 0; i < counts->instructions.count; i++) {
        const struct found_line *found = array_at(&finder.found, i);
        const struct line_count *line = line_counts_at(lines, found->file, found->line);
        *(uint32_t *)array_add(&lines->of_code) =
            line ? (uint32_t)(line - (struct line_count *)lines->lines.elements) + 1 : 0;
    }
    array_free(&finder.found);
    array_free(&finder.by_target);
}

void line_counts_free(struct line_counts *lines)
{
    array_free(&lines->files);
    array_free(&lines->lines);
    array_free(&lines->of_code);
    arena_free(&lines->memory);
}

const struct line_count *line_counts_at(const struct line_counts *lines, uint32_t file,
                                        uint32_t line)
{
    struct line_count wanted = {.file = file, .line = line};
    return lines->lines.count == 0 ? NULL
                                   : bsearch(&wanted, lines->lines.elements, lines->lines.count,
                                             sizeof(struct line_count), compare_lines);
}
