#include "symbol/dwarf/source_lines.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Addresses that a unit says it has code at. */
struct unit_range {
    Dwarf_Addr start, end;
    Dwarf_Die die; /* of the unit */
};

static int compare_units(const void *left, const void *right)
{
    const struct unit_range *a = left, *b = right;
    return (a->start > b->start) - (a->start < b->start);
}

static void add_unit(struct source_lines *lines, Dwarf_Die *die)
{
    Dwarf_Addr base, start, end;
    for (ptrdiff_t offset = 0; (offset = dwarf_ranges(die, offset, &base, &start, &end)) > 0;)
        if (start < end)
            *(struct unit_range *)array_add(&lines->units) = (struct unit_range){start, end, *die};
}

/* The file whose symbol table libdwfl has chosen: where it found debug information, if it had to
 * look for symbols elsewhere. NULL: there are no symbols. */
static Elf *file_of_symbols(Dwfl_Module *module, GElf_Addr *bias)
{
    GElf_Sym symbol;
    GElf_Addr address;
    Elf *elf = NULL;
    dwfl_module_getsym_info(module, 1, &symbol, &address, NULL, &elf, bias);
    return elf;
}

void source_lines_open(struct source_lines *lines, Dwfl_Module *module, GElf_Addr object_bias)
{
    GElf_Addr dwarf_bias = 0;
    *lines = (struct source_lines){.units = array_of(sizeof(struct unit_range))};
    line_sections_open(&lines->sections, file_of_symbols(module, &dwarf_bias));
    lines->debug =
        lines->sections.debug ? lines->sections.debug : dwfl_module_getdwarf(module, &dwarf_bias);
    lines->bias = object_bias - dwarf_bias;
    Dwarf_CU *unit = NULL;
    Dwarf_Die die;
    while (lines->debug && dwarf_get_units(lines->debug, unit, &unit, NULL, NULL, &die, NULL) == 0)
        add_unit(lines, &die);
    if (lines->units.count > 1)
        qsort(lines->units.elements, lines->units.count, sizeof(struct unit_range), compare_units);
}

void source_lines_close(struct source_lines *lines)
{
    array_free(&lines->units);
    line_sections_close(&lines->sections);
}

/* Index of the first row that is not before `address`; libdw sorts rows by address. */
static size_t first_row_from(Dwarf_Lines *rows, size_t count, Dwarf_Addr address)
{
    size_t low = 0, high = count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        Dwarf_Addr at = 0;
        dwarf_lineaddr(dwarf_onesrcline(rows, middle), &at);
        if (at < address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static bool ends_sequence(Dwarf_Line *row)
{
    bool end = true;
    return dwarf_lineendsequence(row, &end) != 0 || end;
}

/* Of the rows at `address`, the first, where a function begins, or the last, of the code itself:
 * those before it end where they begin. Else the last before it; NULL when the address is outside
 * of the table. */
static Dwarf_Line *row_at(Dwarf_Lines *rows, size_t count, Dwarf_Addr address,
                          enum source_row which)
{
    size_t first = first_row_from(rows, count, address);
    Dwarf_Line *found = NULL;
    for (size_t i = first; i < count; i++) {
        Dwarf_Line *row = dwarf_onesrcline(rows, i);
        Dwarf_Addr at;
        if (dwarf_lineaddr(row, &at) != 0 || at != address)
            break;
        if (!ends_sequence(row) && (!found || which == SOURCE_ROW_LAST))
            found = row;
    }
    if (found)
        return found;
    Dwarf_Line *before = first > 0 && first < count ? dwarf_onesrcline(rows, first - 1) : NULL;
    return before && !ends_sequence(before) ? before : NULL;
}

static struct source_line place_in(const char *directory, const char *file, uint32_t line,
                                   struct arena *memory)
{
    if (!file || *file == 0)
        return (struct source_line){0};
    if (*file == '/' || !directory || *directory == 0)
        return (struct source_line){arena_copy_string(memory, file), line};
    size_t size = strlen(directory) + 1 + strlen(file) + 1;
    char *path = arena_allocate(memory, size);
    snprintf(path, size, "%s/%s", directory, file);
    return (struct source_line){path, line};
}

/* Neighbours are mostly of one file: its path is made once. */
static struct source_line make_line(struct source_lines *lines, Dwarf_Line *row,
                                    const char *directory, struct arena *memory)
{
    const char *file = dwarf_linesrc(row, NULL, NULL);
    int line;
    if (dwarf_lineno(row, &line) != 0 || line <= 0)
        return (struct source_line){0};
    if (lines->newest_path && file == lines->newest_file && directory == lines->newest_directory)
        return (struct source_line){lines->newest_path, (uint32_t)line};
    struct source_line made = place_in(directory, file, (uint32_t)line, memory);
    lines->newest_file = file;
    lines->newest_directory = directory;
    lines->newest_path = made.file;
    return made;
}

static const char *compilation_directory(Dwarf_Die *unit)
{
    Dwarf_Attribute attribute;
    return dwarf_formstring(dwarf_attr(unit, DW_AT_comp_dir, &attribute));
}

/* The range that starts last at or before `address`; NULL when that does not hold it. */
static struct unit_range *unit_at(const struct source_lines *lines, Dwarf_Addr address)
{
    size_t low = 0, high = lines->units.count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        struct unit_range *range = array_at(&lines->units, middle);
        if (range->start <= address)
            low = middle + 1;
        else
            high = middle;
    }
    struct unit_range *range = low > 0 ? array_at(&lines->units, low - 1) : NULL;
    return range && address < range->end ? range : NULL;
}

bool source_lines_unit(const struct source_lines *lines, uint64_t address, Dwarf_Die *unit)
{
    const struct unit_range *range = lines->debug ? unit_at(lines, address + lines->bias) : NULL;
    if (range)
        *unit = range->die;
    return range != NULL;
}

struct source_line source_lines_place(Dwarf_Die *unit, const char *file, uint32_t line,
                                      struct arena *memory)
{
    return place_in(compilation_directory(unit), file, line, memory);
}

static struct source_line find_by_unit(struct source_lines *lines, Dwarf_Addr address,
                                       enum source_row which, struct arena *memory)
{
    struct unit_range *range = unit_at(lines, address);
    Dwarf_Lines *rows;
    size_t count;
    if (!range || dwarf_getsrclines(&range->die, &rows, &count) != 0)
        return (struct source_line){0};
    Dwarf_Line *row = row_at(rows, count, address, which);
    return row ? make_line(lines, row, compilation_directory(&range->die), memory)
               : (struct source_line){0};
}

uint32_t source_lines_discriminator(const struct source_lines *lines, uint64_t address)
{
    struct unit_range *range = lines->debug ? unit_at(lines, address + lines->bias) : NULL;
    Dwarf_Lines *rows;
    size_t count;
    unsigned discriminator = 0;
    if (!range || dwarf_getsrclines(&range->die, &rows, &count) != 0)
        return 0;
    Dwarf_Line *row = row_at(rows, count, address + lines->bias, SOURCE_ROW_LAST);
    return row && dwarf_linediscriminator(row, &discriminator) == 0 ? discriminator : 0;
}

/* Without units to ask, all line tables are searched. */
static struct source_line find_in_all_tables(struct source_lines *lines, Dwarf_Addr address,
                                             enum source_row which, struct arena *memory)
{
    Dwarf_Off offset = 0, next = 0;
    Dwarf_CU *unit = NULL;
    Dwarf_Files *files;
    Dwarf_Lines *rows;
    size_t file_count, row_count;
    while (dwarf_next_lines(lines->debug, offset, &next, &unit, &files, &file_count, &rows,
                            &row_count) == 0 &&
           next > offset) {
        offset = next;
        Dwarf_Line *row = row_at(rows, row_count, address, which);
        const char *const *directories;
        size_t directory_count;
        if (!row)
            continue;
        bool has_directory =
            dwarf_getsrcdirs(files, &directories, &directory_count) == 0 && directory_count > 0;
        return make_line(lines, row, has_directory ? directories[0] : NULL, memory);
    }
    return (struct source_line){0};
}

struct source_line source_lines_find(struct source_lines *lines, uint64_t address,
                                     enum source_row which, struct arena *memory)
{
    if (!lines->debug)
        return (struct source_line){0};
    if (lines->units.count > 0)
        return find_by_unit(lines, address + lines->bias, which, memory);
    return find_in_all_tables(lines, address + lines->bias, which, memory);
}

bool source_path_is(const char *path, const char *file)
{
    size_t length = strlen(path), wanted = strlen(file);
    if (wanted == 0 || wanted > length || strcmp(path + length - wanted, file) != 0)
        return false;
    return wanted == length || *file == '/' || path[length - wanted - 1] == '/';
}
