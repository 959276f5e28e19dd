#include "symbol/object.h"

#include "base/memory.h"
#include "symbol/code_symbol.h"
#include "symbol/eh_frame/frame_entries.h"
#include "symbol/elf/debug_file.h"
#include "symbol/elf/elf_symbols.h"
#include "symbol/elf/plt.h"
#include "symbol/go/go_inlined.h"
#include "symbol/go/go_lines.h"

#include <stdlib.h>

/* Modules are reported by path, so libdwfl never has to find the object itself. No debuginfo_path:
 * the default. */
static const Dwfl_Callbacks callbacks = {
    .find_elf = dwfl_build_id_find_elf,
    .find_debuginfo = debug_file_find,
};

static void open_module(struct object *object, const struct image_file *file)
{
    object->session = dwfl_begin(&callbacks);
    if (!object->session)
        return;
    dwfl_report_begin(object->session);
    /* At address 0, so that module addresses are the object's own. */
    object->module = dwfl_report_elf(object->session, file->path, file->local_path, -1, 0, true);
    dwfl_report_end(object->session, NULL, NULL);
}

static void add_gaps(const struct image_file *file, struct array *symbols)
{
    for (uint32_t i = 0; i < file->segment_count; i++) {
        const struct image_segment *segment = &file->segments[i];
        if (segment->executable)
            *(struct code_symbol *)array_add(symbols) = (struct code_symbol){
                .start = segment->address,
                .end = segment->address + segment->memory_size,
                .limit = segment->address + segment->memory_size,
                .kind = CODE_GAP,
            };
    }
}

/* Of the kernel: names that are not in the file. */
static void add_given_symbols(const struct image_file *file, struct array *symbols)
{
    for (size_t i = 0; i < file->symbol_count; i++) {
        const struct image_symbol *given = &file->symbols[i];
        for (uint32_t j = 0; j < file->segment_count; j++) {
            const struct image_segment *segment = &file->segments[j];
            uint64_t distance = given->start - segment->address;
            if (given->start < segment->address || distance >= segment->memory_size)
                continue;
            uint64_t rest = segment->memory_size - distance;
            *(struct code_symbol *)array_add(symbols) = (struct code_symbol){
                .name = given->name,
                .start = given->start,
                .end = given->start + (given->size < rest ? given->size : rest),
                .limit = given->start + rest,
                .kind = CODE_FUNCTION,
                .binding = CODE_GLOBAL,
            };
            break;
        }
    }
}

/* Bounds of functions by .eh_frame, for objects that have lost their symbols. */
static void add_frames(const struct array *entries, struct array *symbols)
{
    array_reserve(symbols, entries->count);
    for (size_t i = 0; i < entries->count; i++) {
        const struct frame_entry *entry = array_at(entries, i);
        *(struct code_symbol *)array_add(symbols) = (struct code_symbol){
            .start = entry->start,
            .end = entry->end,
            .limit = entry->end,
            .kind = CODE_FRAME,
        };
    }
}

struct object *object_open(const struct image_file *file)
{
    struct object *object = memory_allocate_zeroed(sizeof *object);
    struct array symbols = array_of(sizeof(struct code_symbol));
    struct array entries = array_of(sizeof(struct frame_entry));
    if (!file->symbols)
        open_module(object, file);
    Elf *elf = object->module ? dwfl_module_getelf(object->module, &object->bias) : NULL;
    if (elf) {
        elf_symbols_read(object->module, file, &object->names, &symbols);
        plt_read(elf, &object->names, &symbols);
        object->go = pclntab_open(elf, file);
        if (object->go)
            pclntab_add_symbols(object->go, &object->names, &symbols);
        frame_entries_read(elf, file, &entries);
        add_frames(&entries, &symbols);
        ocaml_code_find(&object->ocaml, elf, file, &symbols);
    } else if (!file->symbols) {
        elf_symbols_read_alone(file, &object->names, &symbols);
    }
    add_given_symbols(file, &symbols);
    add_gaps(file, &symbols);
    symbol_table_build(&object->table, &symbols, OVERLAP_LATER_START);
    object->inlined = memory_allocate_zeroed(object->table.range_count * sizeof *object->inlined);
    array_free(&symbols);
    landing_pads_init(&object->landing_pads, file, &entries);
    array_free(&entries);
    return object;
}

void object_close(struct object *object)
{
    if (!object)
        return;
    inlined_units_free(&object->inlined_units);
    for (uint32_t i = 0; i < object->table.range_count; i++)
        free(object->inlined[i]);
    free(object->inlined);
    if (object->lines_opened)
        source_lines_close(&object->lines);
    dwfl_end(object->session);
    landing_pads_free(&object->landing_pads);
    ocaml_code_free(&object->ocaml);
    pclntab_close(object->go);
    symbol_table_free(&object->table);
    arena_free(&object->names);
    free(object);
}

/* False if there is no debug information to be opened. */
static bool open_lines(struct object *object)
{
    if (!object->module)
        return false;
    if (!object->lines_opened)
        source_lines_open(&object->lines, object->module, object->bias);
    object->lines_opened = true;
    return true;
}

struct source_line object_line(struct object *object, uint64_t address, enum source_row which,
                               struct arena *memory)
{
    struct source_line line = {0};
    if (open_lines(object))
        line = source_lines_find(&object->lines, address, which, memory);
    return !line.file && object->go ? go_lines_find(object->go, address) : line;
}

/* Whether Go's own tables say what is inlined: no debug information does. */
static bool has_go_alone(struct object *object)
{
    return object->go && !(open_lines(object) && object->lines.units.count > 0);
}

struct inlined_code object_inlined_code(struct object *object, uint64_t start, uint64_t end)
{
    if (has_go_alone(object))
        return go_inlined_read(object->go, start, end, &object->inlined_units.damaged);
    if (!open_lines(object))
        return (struct inlined_code){.runs = {0}};
    return inlined_calls_read(&object->inlined_units, &object->lines, start, end);
}

struct source_line object_inlined_line(struct object *object, uint64_t origin, struct arena *memory)
{
    return inlined_calls_line(&object->lines, origin, memory);
}

static struct function_declaration go_declaration(const struct object *object, uint64_t entry)
{
    struct pclntab_function function;
    if (!pclntab_find(object->go, entry, &function) || function.entry != entry)
        return (struct function_declaration){0};
    return (struct function_declaration){pclntab_name(object->go, &function),
                                         go_lines_find(object->go, entry).line};
}

struct function_declaration object_declaration(struct object *object, uint64_t entry)
{
    Dwarf_Die function;
    int line = 0;
    if (has_go_alone(object))
        return go_declaration(object, entry);
    if (!open_lines(object) ||
        !inlined_units_function(&object->inlined_units, &object->lines, entry, &function))
        return (struct function_declaration){0};
    dwarf_decl_line(&function, &line);
    return (struct function_declaration){inlined_calls_name(&function),
                                         line > 0 ? (uint32_t)line : 0};
}

struct declared_function object_declared(struct object *object, uint64_t entry,
                                         struct arena *memory)
{
    Dwarf_Die function;
    if (!open_lines(object) ||
        !inlined_units_function(&object->inlined_units, &object->lines, entry, &function))
        return (struct declared_function){0};
    return (struct declared_function){
        inlined_calls_linkage_name(&function),
        inlined_calls_line(&object->lines, dwarf_dieoffset(&function), memory),
    };
}

uint32_t object_discriminator(struct object *object, uint64_t address)
{
    return open_lines(object) ? source_lines_discriminator(&object->lines, address) : 0;
}
