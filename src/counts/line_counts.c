#include "counts/line_counts.h"

#include "counts/own_functions.h"

#include <stdlib.h>
#include <string.h>
#include <uthash.h>

/* A file that some line is in. */
struct known_file {
    const char *path;
    uint32_t index; /* in line_counts.files */
    UT_hash_handle hh;
};

/* A line of an instruction, before the lines are sorted. */
struct found_line {
    uint32_t file, line; /* line 0: unknown */
};

struct known_files {
    struct known_file *by_path;      /* in line_counts.memory */
    const struct known_file *recent; /* that of the newest line; NULL: none yet */
};

struct finder {
    const struct code_counts *counts;
    struct line_counts *lines;
    struct known_files *files; /* those of `lines` */
    struct array own;          /* own_functions_find */
    struct array beginnings;   /* struct beginning, by place */
    struct array found;        /* struct found_line, by index in counts->instructions */
    struct array by_target;    /* code_counts_by_target */
    struct array blocks;       /* struct line_block */
    struct array block_of;     /* uint32_t: of each instruction, index in `blocks` */
    struct array *parts; /* struct line_count: of lines that are not the last one of a block */
};

static struct known_file *add_file(const struct finder *finder, const char *path)
{
    struct line_counts *lines = finder->lines;
    struct known_file *added = arena_allocate(&lines->memory, sizeof *added);
    *added = (struct known_file){.path = arena_copy_string(&lines->memory, path),
                                 .index = (uint32_t)lines->files.count};
    *(const char **)array_add(&lines->files) = added->path;
    HASH_ADD_KEYPTR(hh, finder->files->by_path, added->path, strlen(added->path), added);
    return added;
}

/* Instructions that follow each other are of one file most often. */
static uint32_t file_index(const struct finder *finder, const char *path)
{
    struct known_files *files = finder->files;
    struct known_file *known;
    if (files->recent && strcmp(files->recent->path, path) == 0)
        return files->recent->index;
    HASH_FIND_STR(files->by_path, path, known);
    files->recent = known ? known : add_file(finder, path);
    return files->recent->index;
}

/* What the line table says. */
static struct found_line read_line(const struct finder *finder, const struct code_place_key *place)
{
    struct mapping mapping = code_counts_mapping(place->file);
    struct source_line line = symbols_line_at(finder->counts->symbols, &mapping, place->offset);
    if (!line.file || line.line == 0)
        return (struct found_line){0};
    return (struct found_line){file_index(finder, line.file), line.line};
}

static bool is_same(const struct found_line *left, const struct found_line *right)
{
    return left->line == right->line && left->file == right->file;
}

/* ---- Beginnings of functions ---- */

/* The code before a function's first statement: of the line of its `{`, but counted, as by gcov, at
 * that of its name. */
struct beginning {
    struct code_place_key start;
    uint64_t end; /* offset in the file, exclusive */
    struct found_line name;
};

static uint64_t end_of_line(const struct finder *finder, const struct own_function *range,
                            const struct found_line *line)
{
    struct x86_instruction decoded;
    struct code_place_key at = range->start;
    for (; at.offset < range->end && own_functions_decode(at.file, at.offset, &decoded);
         at.offset += decoded.length) {
        struct found_line found = read_line(finder, &at);
        if (!is_same(&found, line))
            break;
    }
    return at.offset;
}

/* A function whose first instruction is that of a statement has no such code. */
static void add_beginning(struct finder *finder, const struct own_function *range)
{
    struct symbols *symbols = finder->counts->symbols;
    struct source_line name = symbols_declared(symbols, range->function).name;
    struct source_line brace = symbols_line(symbols, range->function);
    struct found_line first = read_line(finder, &range->start);
    if (!name.file || first.line == 0 || first.line != brace.line || name.line >= first.line ||
        file_index(finder, name.file) != first.file)
        return;
    *(struct beginning *)array_add(&finder->beginnings) = (struct beginning){
        .start = range->start,
        .end = end_of_line(finder, range, &first),
        .name = {first.file, name.line},
    };
}

static struct found_line find_line(const struct finder *finder, const struct code_place_key *place)
{
    struct code_place_key next = {place->file, place->offset + 1};
    size_t after = code_counts_first(&finder->beginnings, &next);
    const struct beginning *beginning = after > 0 ? array_at(&finder->beginnings, after - 1) : NULL;
    if (beginning && beginning->start.file == place->file && place->offset < beginning->end)
        return beginning->name;
    return read_line(finder, place);
}

static void add(struct array *lines, const struct found_line *line, uint64_t count, uint64_t cost)
{
    if (line->line != 0)
        *(struct line_count *)array_add(lines) =
            (struct line_count){line->file, line->line, count, cost};
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

/* ---- Blocks ---- */

/* Instructions that run one after the other: a call ends one, too. */
struct line_block {
    size_t first, end;      /* indexes in counts->instructions, end exclusive */
    struct found_line line; /* of its last instruction */
};

static const struct instruction_count *instruction_at(const struct finder *finder, size_t index)
{
    return array_at(&finder->counts->instructions, index);
}

/* Whether the instruction follows right upon the one before. */
static bool is_adjacent(const struct finder *finder, size_t index)
{
    const struct instruction_count *at = instruction_at(finder, index);
    const struct instruction_count *before = index > 0 ? instruction_at(finder, index - 1) : NULL;
    return before && before->at.file == at->at.file &&
           before->at.offset + before->size == at->at.offset;
}

/* The branch of the instruction, if it is an unconditional jump that always went to one place; NULL: it is none. */
static const struct branch_count *jump_at(const struct finder *finder, size_t index)
{
    const struct array *branches = &finder->counts->branches;
    const struct code_place_key *place = &instruction_at(finder, index)->at;
    size_t first = code_counts_first(branches, place);
    const struct branch_count *jump = first < branches->count ? array_at(branches, first) : NULL;
    const struct branch_count *next =
        first + 1 < branches->count ? array_at(branches, first + 1) : NULL;
    if (!jump || jump->kind != STEP_JUMP || code_place_compare(&jump->from, place) != 0 ||
        (next && code_place_compare(&next->from, place) == 0))
        return NULL;
    return jump;
}

static bool is_line_of(const struct finder *finder, const struct code_place_key *place,
                       const struct found_line *line)
{
    const struct array *all = &finder->counts->instructions;
    size_t index = code_counts_first(all, place);
    return index < all->count &&
           code_place_compare(&instruction_at(finder, index)->at, place) == 0 &&
           is_same(array_at(&finder->found, index), line);
}

static bool begins_at(const struct array *branches, const struct code_place_key *place)
{
    size_t index = code_counts_first(branches, place);
    const struct branch_count *branch = index < branches->count ? array_at(branches, index) : NULL;
    return branch && code_place_compare(&branch->from, place) == 0;
}

static bool begins_block(const struct finder *finder, size_t index)
{
    return !is_adjacent(finder, index) ||
           begins_at(&finder->by_target, &instruction_at(finder, index)->at) ||
           begins_at(&finder->counts->branches, &instruction_at(finder, index - 1)->at);
}

/* Compilers give the jump back to a loop's beginning the line of that beginning: it is no arrival there, but a part of what is
 * before it; or of no line, where only jumps lead to it. */
static void find_lines_of_loops(const struct finder *finder)
{
    struct found_line *lines = finder->found.elements;
    for (size_t i = 1; i < finder->found.count; i++) {
        const struct branch_count *jump = jump_at(finder, i);
        bool begins = begins_block(finder, i);
        if (jump && is_line_of(finder, &jump->to, &lines[i]) &&
            (begins || !is_same(&lines[i - 1], &lines[i])))
            lines[i] = begins ? (struct found_line){0} : lines[i - 1];
    }
}

/* Finds the blocks, and the block of each instruction. */
static void find_blocks(struct finder *finder)
{
    size_t count = finder->counts->instructions.count;
    for (size_t i = 0; i < count; i++) {
        if (begins_block(finder, i))
            *(struct line_block *)array_add(&finder->blocks) = (struct line_block){.first = i};
        struct line_block *block = array_at(&finder->blocks, finder->blocks.count - 1);
        block->end = i + 1;
        block->line = *(struct found_line *)array_at(&finder->found, i);
        *(uint32_t *)array_add(&finder->block_of) = (uint32_t)(finder->blocks.count - 1);
    }
}

/* The block that holds the instruction; NULL: it did not run. */
static const struct line_block *block_of(const struct finder *finder,
                                         const struct code_place_key *place)
{
    const struct array *all = &finder->counts->instructions;
    size_t index = code_counts_first(all, place);
    if (index == all->count || code_place_compare(&instruction_at(finder, index)->at, place) != 0)
        return NULL;
    return array_at(&finder->blocks, *(uint32_t *)array_at(&finder->block_of, index));
}

/* ---- How often lines ran ---- */

/* Of an arc that leads to the block: whether control comes to the block's line by it, from another line or round a loop. */
static bool arrives(const struct line_block *from, const struct line_block *to)
{
    return !from || !is_same(&from->line, &to->line) || from->first >= to->first;
}

/* How often control comes to the line of the block by arcs to the block. */
static uint64_t count_arrivals(const struct finder *finder, const struct line_block *block)
{
    const struct instruction_count *at = instruction_at(finder, block->first);
    uint64_t arrivals = 0, by_branches = 0;
    for (size_t i = code_counts_first(&finder->by_target, &at->at); i < finder->by_target.count;
         i++) {
        const struct branch_count *branch = array_at(&finder->by_target, i);
        if (code_place_compare(&branch->from, &at->at) != 0)
            break;
        if (branch->kind != STEP_TAKEN && branch->kind != STEP_JUMP && branch->kind != STEP_CALL)
            continue;
        by_branches += branch->count;
        if (branch->kind == STEP_CALL || arrives(block_of(finder, &branch->to), block))
            arrivals += branch->count;
    }
    const struct line_block *before = is_adjacent(finder, block->first) ? block - 1 : NULL;
    if (arrives(before, block))
        arrivals += at->count > by_branches ? at->count - by_branches : 0;
    return arrivals;
}

static uint64_t cost_of(const struct finder *finder, size_t first, size_t end)
{
    uint64_t cost = 0;
    for (size_t i = first; i < end; i++)
        cost += instruction_at(finder, i)->count;
    return cost;
}

/* Adds the lines of the block: the last one as a line of blocks, those before it as parts of one. */
static void add_block(const struct finder *finder, const struct line_block *block)
{
    const struct found_line *lines = finder->found.elements;
    size_t first = block->first;
    for (size_t i = first + 1; i <= block->end; i++) {
        if (i < block->end && is_same(&lines[i], &lines[first]))
            continue;
        bool is_last = i == block->end;
        uint64_t count =
            is_last ? count_arrivals(finder, block) : instruction_at(finder, block->first)->count;
        add(is_last ? &finder->lines->lines : finder->parts, &lines[first], count,
            cost_of(finder, first, i));
        first = i;
    }
}

/* A line with blocks of its own ran as often as these were arrived at. */
static void add_parts(const struct finder *finder)
{
    merge_lines(&finder->lines->lines);
    merge_lines(finder->parts);
    size_t known = finder->lines->lines.count;
    for (size_t i = 0; i < finder->parts->count; i++) {
        const struct line_count *part = array_at(finder->parts, i);
        struct line_count *line = known == 0 ? NULL
                                             : bsearch(part, finder->lines->lines.elements, known,
                                                       sizeof(struct line_count), compare_lines);
        if (line)
            line->cost += part->cost;
        else
            *(struct line_count *)array_add(&finder->lines->lines) = *part;
    }
}

/* Adds lines of the code that never ran. */
static void add_unexecuted(const struct finder *finder, const struct image_file *file,
                           uint64_t start, uint64_t end)
{
    struct x86_instruction decoded;
    for (uint64_t at = start; at < end && own_functions_decode(file, at, &decoded);
         at += decoded.length) {
        struct code_place_key place = {file, at};
        if (code_counts_at(finder->counts, &place) > 0)
            continue;
        struct found_line line = find_line(finder, &place);
        add(&finder->lines->lines, &line, 0, 0);
    }
}

/* Of the program and its own libraries all functions; of others those that ran, whose neighbours
 * nobody asks for. */
static void add_unexecuted_of_all(const struct finder *finder)
{
    const struct array *all = &finder->counts->instructions;
    for (size_t i = 0; i < finder->own.count; i++) {
        const struct own_function *range = array_at(&finder->own, i);
        add_unexecuted(finder, range->start.file, range->start.offset, range->end);
    }
    for (size_t i = 0; i < all->count;) {
        const struct instruction_count *at = array_at(all, i);
        struct function_bounds bounds = code_counts_function(finder->counts, &at->at);
        const struct function *function =
            symbols_function(finder->counts->symbols, bounds.function);
        bool is_own = function->owner == CODE_OF_PROGRAM && at->at.file->segment_count > 0;
        if (function->symbol && !is_own)
            add_unexecuted(finder, at->at.file, bounds.start, bounds.end);
        struct code_place_key end = {at->at.file, bounds.end};
        size_t next = code_counts_first(all, &end);
        i = next > i ? next : i + 1;
    }
}

void line_counts_find(struct line_counts *lines, const struct code_counts *counts)
{
    *lines = (struct line_counts){
        .files = array_of(sizeof(const char *)),
        .lines = array_of(sizeof(struct line_count)),
        .of_code = array_of(sizeof(uint32_t)),
    };
    struct array parts = array_of(sizeof(struct line_count));
    struct known_files files = {0};
    struct finder finder = {
        .files = &files,
        .counts = counts,
        .lines = lines,
        .own = own_functions_find(counts),
        .beginnings = array_of(sizeof(struct beginning)),
        .found = array_of(sizeof(struct found_line)),
        .by_target = code_counts_by_target(counts),
        .blocks = array_of(sizeof(struct line_block)),
        .block_of = array_of(sizeof(uint32_t)),
        .parts = &parts,
    };
    for (size_t i = 0; i < finder.own.count; i++)
        if (((struct own_function *)array_at(&finder.own, i))->begins)
            add_beginning(&finder, array_at(&finder.own, i));
    for (size_t i = 0; i < counts->instructions.count; i++) {
        const struct instruction_count *at = array_at(&counts->instructions, i);
        *(struct found_line *)array_add(&finder.found) = find_line(&finder, &at->at);
    }
    find_lines_of_loops(&finder);
    find_blocks(&finder);
    for (size_t i = 0; i < finder.blocks.count; i++)
        add_block(&finder, array_at(&finder.blocks, i));
    add_parts(&finder);
    add_unexecuted_of_all(&finder);
    merge_lines(&lines->lines);
    for (size_t i = 0; i < counts->instructions.count; i++) {
        const struct found_line *found = array_at(&finder.found, i);
        const struct line_count *line = line_counts_at(lines, found->file, found->line);
        *(uint32_t *)array_add(&lines->of_code) =
            line ? (uint32_t)(line - (struct line_count *)lines->lines.elements) + 1 : 0;
    }
    HASH_CLEAR(hh, files.by_path);
    array_free(&finder.own);
    array_free(&finder.beginnings);
    array_free(&finder.found);
    array_free(&finder.by_target);
    array_free(&finder.blocks);
    array_free(&finder.block_of);
    array_free(&parts);
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
