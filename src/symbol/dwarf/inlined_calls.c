#include "symbol/dwarf/inlined_calls.h"

#include "symbol/dwarf/function_entries.h"
#include "symbol/dwarf/inlined_entry.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    DEPTH_MAX = 200,            /* of entries inside each other; compilers stay far below */
    ENTRIES_MAX = 1 << 21,      /* of one function */
    RANGES_MAX = 1 << 20,       /* of one function */
    SHORT_CALL = 64,            /* bytes */
    GNU_DISCRIMINATOR = 0x2136, /* DW_AT_GNU_discriminator, which dwarf.h of elfutils 0.188 lacks */
};

struct unit_functions {
    Dwarf_Off unit;
    struct array functions; /* struct function_entry, by start */
};

/* Goes through entries that are next to each other or inside each other. */
struct entry_walk {
    Dwarf_Off last; /* entries only ever follow each other */
    uint32_t left;  /* may still be visited */
    bool damaged;
};

/* Goes to the first entry inside of `parent`. */
static bool first_inside(struct entry_walk *walk, Dwarf_Die *parent, Dwarf_Die *entry)
{
    int found = dwarf_child(parent, entry);
    walk->damaged |= found < 0;
    return found == 0;
}

/* Whether the entry may be visited. */
static bool may_visit(struct entry_walk *walk, Dwarf_Die *entry)
{
    Dwarf_Off offset = dwarf_dieoffset(entry);
    if (walk->left == 0 || offset <= walk->last) {
        walk->damaged = true;
        return false;
    }
    walk->left--;
    walk->last = offset;
    return true;
}

static bool go_next(struct entry_walk *walk, Dwarf_Die *entry)
{
    int found = dwarf_siblingof(entry, entry);
    walk->damaged |= found < 0;
    return found == 0;
}

/* ---- The functions of a unit ---- */

static const struct unit_functions *functions_of(struct inlined_units *units, Dwarf *debug,
                                                 Dwarf_Die *unit)
{
    if (units->units.element_size == 0)
        units->units = array_of(sizeof(struct unit_functions));
    Dwarf_Off offset = dwarf_dieoffset(unit);
    size_t low = 0, high = units->units.count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        struct unit_functions *known = array_at(&units->units, middle);
        if (known->unit == offset)
            return known;
        if (known->unit < offset)
            low = middle + 1;
        else
            high = middle;
    }
    struct unit_functions *added = array_insert(&units->units, low);
    *added = (struct unit_functions){offset, array_of(sizeof(struct function_entry))};
    units->damaged |= !function_entries_list(debug, unit, &added->functions);
    return added;
}

/* Of a function with several ranges the first is its beginning: dwarf_entrypc of libdw 0.188 knows only those of one. */
static bool begins_at(Dwarf_Die *entry, Dwarf_Addr address)
{
    Dwarf_Addr base, start, end;
    return dwarf_ranges(entry, 0, &base, &start, &end) > 0 && start == address;
}

bool inlined_units_function(struct inlined_units *units, const struct source_lines *lines,
                            uint64_t address, Dwarf_Die *entry)
{
    Dwarf_Die unit;
    uint64_t start = address + lines->bias;
    if (!source_lines_unit(lines, address, &unit))
        return false;
    const struct array *functions = &functions_of(units, lines->debug, &unit)->functions;
    for (size_t i = function_entries_find(functions, start); i < functions->count; i++) {
        const struct function_entry *function = array_at(functions, i);
        if (function->start > start)
            break;
        if (function->start == start && dwarf_offdie(lines->debug, function->offset, entry) &&
            begins_at(entry, start))
            return true;
    }
    return false;
}

void inlined_units_free(struct inlined_units *units)
{
    for (size_t i = 0; i < units->units.count; i++)
        array_free(&((struct unit_functions *)array_at(&units->units, i))->functions);
    array_free(&units->units);
}

/* ---- The inlined calls of a function ---- */

struct reading {
    struct entry_walk walk;
    struct inlined_code *code;
    struct array ranges; /* struct ranked_range */
    uint64_t bias;       /* address in DWARF minus the object's own */
    Dwarf_Files *files;  /* of the unit; NULL: unknown */
    size_t file_count;
};

static bool read_number(Dwarf_Die *entry, unsigned name, uint64_t *value)
{
    Dwarf_Attribute attribute;
    Dwarf_Word word;
    if (!dwarf_attr(entry, name, &attribute) || dwarf_formudata(&attribute, &word) != 0)
        return false;
    *value = word;
    return true;
}

static const char *read_name(Dwarf_Die *entry, unsigned attribute_name)
{
    Dwarf_Attribute attribute;
    const char *name = dwarf_formstring(dwarf_attr_integrate(entry, attribute_name, &attribute));
    return name && *name ? name : NULL;
}

const char *inlined_calls_linkage_name(Dwarf_Die *entry)
{
    const char *name = read_name(entry, DW_AT_linkage_name);
    return name ? name : read_name(entry, DW_AT_MIPS_linkage_name);
}

const char *inlined_calls_name(Dwarf_Die *entry)
{
    const char *name = inlined_calls_linkage_name(entry);
    if (!name)
        name = read_name(entry, DW_AT_name);
    return name ? name : "[inlined]";
}

/* Where distributions, GCC, LLVM, Rust and Go keep such sources. */
static bool is_of_library(const char *file)
{
    static const char *const starts[] = {"/usr/include/", "/usr/lib/", "/rustc/", "/usr/local/go/",
                                         "/usr/share/go"};
    static const char *const parts[] = {"/include/c++/", "/rustlib/src/", "/.cargo/registry/",
                                        "/rust/deps/"};
    if (!file)
        return false;
    for (size_t i = 0; i < sizeof starts / sizeof *starts; i++)
        if (strncmp(file, starts[i], strlen(starts[i])) == 0)
            return true;
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (strstr(file, parts[i]))
            return true;
    return false;
}

static struct inlined_call describe_call(const struct reading *reading, Dwarf_Die *entry)
{
    Dwarf_Attribute attribute;
    Dwarf_Die origin;
    struct inlined_call call = {.symbol = inlined_calls_name(entry),
                                .of_library = is_of_library(dwarf_decl_file(entry))};
    if (dwarf_formref_die(dwarf_attr(entry, DW_AT_abstract_origin, &attribute), &origin) &&
        dwarf_cu_getdwarf(origin.cu) == dwarf_cu_getdwarf(entry->cu))
        call.origin = dwarf_dieoffset(&origin);
    uint64_t file, line, discriminator;
    if (read_number(entry, DW_AT_call_line, &line) && line <= UINT32_MAX)
        call.line = (uint32_t)line;
    if (read_number(entry, GNU_DISCRIMINATOR, &discriminator))
        call.discriminator = (uint32_t)discriminator;
    if (reading->files && read_number(entry, DW_AT_call_file, &file) && file < reading->file_count)
        call.file = dwarf_filesrc(reading->files, file, NULL, NULL);
    return call;
}

/* Adds the inlined call, unless it has no code. Returns its index, or that of the parent. */
static inlined_index add_call(struct reading *reading, Dwarf_Die *entry, inlined_index parent)
{
    struct inlined_code *code = reading->code;
    uint32_t depth = ((struct inlined_nesting *)array_at(&code->nesting, parent))->depth + 1;
    inlined_index index = (inlined_index)code->nesting.count;
    size_t first = reading->ranges.count;
    Dwarf_Addr base, start, end;
    for (ptrdiff_t offset = 0; (offset = dwarf_ranges(entry, offset, &base, &start, &end)) > 0;) {
        if (reading->ranges.count >= RANGES_MAX) {
            reading->walk.damaged = true;
            return parent;
        }
        if (start >= end)
            continue;
        *(struct ranked_range *)array_add(&reading->ranges) =
            (struct ranked_range){start - reading->bias, end - reading->bias,
                                  (uint64_t)depth << 32 | reading->ranges.count, index};
    }
    if (reading->ranges.count == first)
        return parent;
    const struct ranked_range *ranges = array_at(&reading->ranges, first);
    *(struct inlined_nesting *)array_add(&code->nesting) = (struct inlined_nesting){
        parent, depth,
        inlined_entry_read(entry, ranges, reading->ranges.count - first, reading->bias)};
    struct inlined_call *call = array_add(&code->calls);
    *call = describe_call(reading, entry);
    for (size_t i = first; i < reading->ranges.count; i++) {
        const struct ranked_range *range = array_at(&reading->ranges, i);
        call->size += range->end - range->start;
    }
    return index;
}

static bool holds_code(int tag)
{
    return tag == DW_TAG_lexical_block || tag == DW_TAG_try_block || tag == DW_TAG_catch_block ||
           tag == DW_TAG_with_stmt;
}

static void read_calls(struct reading *reading, Dwarf_Die *parent, inlined_index index,
                       unsigned depth)
{
    struct entry_walk *walk = &reading->walk;
    Dwarf_Die entry;
    if (depth > DEPTH_MAX) {
        walk->damaged = true;
        return;
    }
    if (!first_inside(walk, parent, &entry))
        return;
    do {
        if (!may_visit(walk, &entry))
            return;
        int tag = dwarf_tag(&entry);
        if (tag == DW_TAG_inlined_subroutine)
            read_calls(reading, &entry, add_call(reading, &entry, index), depth + 1);
        else if (holds_code(tag))
            read_calls(reading, &entry, index, depth + 1);
    } while (!walk->damaged && go_next(walk, &entry));
}

/* Makes runs of [start, end) of the ranges. */
static void make_runs(struct reading *reading, uint64_t start, uint64_t end)
{
    struct array *runs = &reading->code->runs;
    if (reading->ranges.count == 0)
        return;
    struct array covered = range_cover(reading->ranges.elements, reading->ranges.count);
    uint64_t at = start;
    for (size_t i = 0; i < covered.count; i++) {
        const struct covered_range *range = array_at(&covered, i);
        uint64_t from = range->start > at ? range->start : at;
        uint64_t to = range->end < end ? range->end : end;
        if (from >= to)
            continue;
        if (from > at)
            *(struct inlined_run *)array_add(runs) = (struct inlined_run){.start = at, .end = from};
        *(struct inlined_run *)array_add(runs) =
            (struct inlined_run){.start = from, .end = to, .innermost = range->owner};
        at = to;
    }
    if (runs->count > 0 && at < end)
        *(struct inlined_run *)array_add(runs) = (struct inlined_run){.start = at, .end = end};
    array_free(&covered);
}

/* The rows of a unit's line table, by address. */
struct line_rows {
    Dwarf_Lines *rows;
    size_t count;
};

static Dwarf_Addr row_address(const struct line_rows *table, size_t index)
{
    Dwarf_Addr address = 0;
    dwarf_lineaddr(dwarf_onesrcline(table->rows, index), &address);
    return address;
}

/* The first row at `address` or after it. */
static size_t first_row(const struct line_rows *table, Dwarf_Addr address)
{
    size_t low = 0, high = table->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (row_address(table, middle) < address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static bool begins_statement(Dwarf_Line *row)
{
    bool begins = false, ends = false;
    return dwarf_linebeginstatement(row, &begins) == 0 && begins &&
           dwarf_lineendsequence(row, &ends) == 0 && !ends;
}

static bool is_same_line(Dwarf_Line *left, Dwarf_Line *right)
{
    int left_number, right_number;
    const char *left_file = dwarf_linesrc(left, NULL, NULL);
    const char *right_file = dwarf_linesrc(right, NULL, NULL);
    return dwarf_lineno(left, &left_number) == 0 && dwarf_lineno(right, &right_number) == 0 &&
           left_number == right_number && left_file && right_file &&
           strcmp(left_file, right_file) == 0;
}

/* Of several rows at the first address the code is of the last one's line: the others may be of statements without code. */
static bool has_statement(const struct line_rows *table, uint64_t start, uint64_t end)
{
    size_t row = first_row(table, start), first = row;
    while (row + 1 < table->count && row_address(table, row + 1) == start)
        row++;
    for (size_t i = first; i < row; i++)
        if (begins_statement(dwarf_onesrcline(table->rows, i)) &&
            is_same_line(dwarf_onesrcline(table->rows, i), dwarf_onesrcline(table->rows, row)))
            return true;
    for (; row < table->count && row_address(table, row) < end; row++)
        if (begins_statement(dwarf_onesrcline(table->rows, row)))
            return true;
    return false;
}

/* Go's compiler marks statements for breakpoints, and none in many inlined calls, moved or not. */
static void find_moved(struct array *runs, Dwarf_Die *unit, uint64_t bias)
{
    struct line_rows table;
    if (dwarf_srclang(unit) == DW_LANG_Go ||
        dwarf_getsrclines(unit, &table.rows, &table.count) != 0 || table.count == 0)
        return;
    for (size_t i = 0; i < runs->count; i++) {
        struct inlined_run *run = array_at(runs, i);
        run->is_moved = !has_statement(&table, run->start + bias, run->end + bias);
    }
}

/* Reads the functions of the unit that have code in [start, end), addresses in DWARF. */
static void read_functions(struct reading *reading, Dwarf *debug, const struct unit_functions *unit,
                           uint64_t start, uint64_t end)
{
    Dwarf_Off done = 0;
    for (size_t i = function_entries_find(&unit->functions, start);
         i < unit->functions.count && !reading->walk.damaged; i++) {
        const struct function_entry *function = array_at(&unit->functions, i);
        Dwarf_Die entry;
        if (function->start >= end)
            break;
        if (function->end <= start || function->offset == done ||
            !dwarf_offdie(debug, function->offset, &entry))
            continue;
        done = reading->walk.last = function->offset;
        read_calls(reading, &entry, 0, 0);
    }
}

struct inlined_code inlined_calls_read(struct inlined_units *units,
                                       const struct source_lines *lines, uint64_t start,
                                       uint64_t end)
{
    struct inlined_code code = {
        .nesting = array_of(sizeof(struct inlined_nesting)),
        .calls = array_of(sizeof(struct inlined_call)),
        .runs = array_of(sizeof(struct inlined_run)),
    };
    Dwarf_Die unit;
    if (!source_lines_unit(lines, start, &unit))
        return code;
    const struct unit_functions *functions = functions_of(units, lines->debug, &unit);
    struct reading reading = {
        .walk = {.left = ENTRIES_MAX},
        .code = &code,
        .ranges = array_of(sizeof(struct ranked_range)),
        .bias = lines->bias,
    };
    array_add(&code.nesting);
    array_add(&code.calls);
    if (dwarf_getsrcfiles(&unit, &reading.files, &reading.file_count) != 0)
        reading.files = NULL;
    read_functions(&reading, lines->debug, functions, start + lines->bias, end + lines->bias);
    units->damaged |= reading.walk.damaged;
    make_runs(&reading, start, end);
    find_moved(&code.runs, &unit, lines->bias);
    array_free(&reading.ranges);
    return code;
}

void inlined_code_leave_out_short(struct inlined_code *code)
{
    const struct inlined_nesting *nesting = code->nesting.elements;
    const struct inlined_call *calls = code->calls.elements;
    for (size_t i = 0; i < code->runs.count; i++) {
        struct inlined_run *run = array_at(&code->runs, i);
        while (run->innermost != 0 && calls[run->innermost].of_library &&
               calls[run->innermost].size <= SHORT_CALL)
            run->innermost = nesting[run->innermost].parent;
    }
}

void inlined_code_free(struct inlined_code *code)
{
    array_free(&code->nesting);
    array_free(&code->calls);
    array_free(&code->runs);
}

/* Not dwarf_decl_file: that of libdw 0.188 takes file 0 for none, which in DWARF 5 is the unit's own. */
static const char *declaring_file(Dwarf_Die *entry, Dwarf_Die *unit)
{
    Dwarf_Attribute attribute;
    Dwarf_Word index;
    Dwarf_Files *files;
    size_t count;
    const char *file = dwarf_decl_file(entry);
    if (file ||
        dwarf_formudata(dwarf_attr_integrate(entry, DW_AT_decl_file, &attribute), &index) != 0 ||
        index != 0 || dwarf_getsrcfiles(unit, &files, &count) != 0 || count == 0)
        return file;
    return dwarf_filesrc(files, 0, NULL, NULL);
}

struct source_line inlined_calls_line(const struct source_lines *lines, uint64_t origin,
                                      struct arena *memory)
{
    Dwarf_Die entry, unit;
    int line;
    if (!lines->debug || origin == 0 || !dwarf_offdie(lines->debug, origin, &entry) ||
        !dwarf_diecu(&entry, &unit, NULL, NULL) || dwarf_decl_line(&entry, &line) != 0 || line <= 0)
        return (struct source_line){0};
    return source_lines_place(&unit, declaring_file(&entry, &unit), (uint32_t)line, memory);
}
