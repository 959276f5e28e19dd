#include "symbol/source_lines.h"

#include <elfutils/libdw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct source_line make_line(const char *directory, const char *file, int line,
                                    struct arena *memory)
{
    if (!file || line <= 0)
        return (struct source_line){0};
    if (*file == '/' || !directory)
        return (struct source_line){arena_copy_string(memory, file), (uint32_t)line};
    size_t size = strlen(directory) + 1 + strlen(file) + 1;
    char *path = arena_allocate(memory, size);
    snprintf(path, size, "%s/%s", directory, file);
    return (struct source_line){path, (uint32_t)line};
}

/* Through the compilation unit that claims the address. */
static struct source_line line_by_unit(const struct object *object, uint64_t address,
                                       struct arena *memory)
{
    int line;
    Dwfl_Line *row = dwfl_module_getsrc(object->module, address + object->bias);
    const char *file = row ? dwfl_lineinfo(row, NULL, &line, NULL, NULL, NULL) : NULL;
    return file ? make_line(dwfl_line_comp_dir(row), file, line, memory) : (struct source_line){0};
}

/* The row of `lines` that covers `address`; NULL when none does. */
static Dwarf_Line *row_at(Dwarf_Lines *lines, size_t count, Dwarf_Addr address)
{
    Dwarf_Line *covering = NULL;
    for (size_t i = 0; i < count; i++) {
        Dwarf_Line *row = dwarf_onesrcline(lines, i);
        Dwarf_Addr at;
        bool ends_sequence;
        if (!row || dwarf_lineaddr(row, &at) != 0 ||
            dwarf_lineendsequence(row, &ends_sequence) != 0)
            continue;
        if (at > address && covering)
            return covering;
        covering = at <= address && !ends_sequence ? row : NULL;
    }
    return NULL;
}

/* Without units to ask, all line tables are searched. */
static struct source_line line_by_search(const struct object *object, uint64_t address,
                                         struct arena *memory)
{
    Dwarf_Addr bias;
    Dwarf *debug = dwfl_module_getdwarf(object->module, &bias);
    if (!debug)
        return (struct source_line){0};
    Dwarf_Off offset = 0, next = 0;
    Dwarf_CU *unit = NULL;
    Dwarf_Files *files;
    Dwarf_Lines *lines;
    size_t file_count, line_count;
    while (dwarf_next_lines(debug, offset, &next, &unit, &files, &file_count, &lines,
                            &line_count) == 0 &&
           next > offset) {
        offset = next;
        Dwarf_Line *row = row_at(lines, line_count, address + object->bias - bias);
        int line;
        if (row && dwarf_lineno(row, &line) == 0) {
            const char *const *directories;
            size_t directory_count;
            const char *directory = NULL;
            if (dwarf_getsrcdirs(files, &directories, &directory_count) == 0 && directory_count > 0)
                directory = directories[0];
            return make_line(directory, dwarf_linesrc(row, NULL, NULL), line, memory);
        }
    }
    return (struct source_line){0};
}

static bool has_units(const struct object *object)
{
    Dwarf_Addr bias;
    Dwarf *debug = dwfl_module_getdwarf(object->module, &bias);
    Dwarf_CU *unit = NULL;
    return debug && dwarf_get_units(debug, NULL, &unit, NULL, NULL, NULL, NULL) == 0;
}

struct source_line source_line_at(struct object *object, uint64_t address, struct arena *memory)
{
    if (!object->module)
        return (struct source_line){0};
    return has_units(object) ? line_by_unit(object, address, memory)
                             : line_by_search(object, address, memory);
}
