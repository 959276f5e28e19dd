#include "symbol/elf/elf_symbols.h"

#include "symbol/code_symbol.h"

#include <gelf.h>
#include <string.h>

/* Whether the symbol lies inside of an executable section; *end becomes the section's end, if that
 * is nearer. The section headers of a separate debug file are those of the object, so either
 * serves. */
static bool in_executable_section(Elf *elf, GElf_Word index, uint64_t value, uint64_t address,
                                  uint64_t *end)
{
    GElf_Shdr header;
    Elf_Scn *section = elf ? elf_getscn(elf, index) : NULL;
    if (!section || !gelf_getshdr(section, &header) || !(header.sh_flags & SHF_EXECINSTR) ||
        value < header.sh_addr || value - header.sh_addr >= header.sh_size)
        return false;
    uint64_t rest = header.sh_size - (value - header.sh_addr);
    if (rest < *end - address)
        *end = address + rest;
    return true;
}

static const char *without_version(const char *name, struct arena *names)
{
    const char *at = strchr(name, '@');
    if (!at || at == name)
        return name;
    size_t length = (size_t)(at - name);
    char *copy = memcpy(arena_allocate(names, length + 1), name, length);
    copy[length] = 0;
    return copy;
}

static uint8_t binding_of(const GElf_Sym *symbol)
{
    switch (GELF_ST_BIND(symbol->st_info)) {
    case STB_LOCAL:
        return CODE_LOCAL;
    case STB_WEAK:
        return CODE_WEAK;
    default: /* STB_GLOBAL, STB_GNU_UNIQUE */
        return CODE_GLOBAL;
    }
}

/* A symbol of the table, with its address in the object. */
struct table_symbol {
    const char *name;
    GElf_Sym symbol;
    GElf_Word section; /* index, extended ones resolved */
    uint64_t address;
    Elf *elf; /* that it is from */
};

static void add_symbol(const struct table_symbol *found, const struct image_file *file,
                       uint32_t source_file, struct arena *names, struct array *symbols)
{
    int type = GELF_ST_TYPE(found->symbol.st_info);
    bool function = type == STT_FUNC || type == STT_GNU_IFUNC;
    const struct image_segment *segment = image_file_segment(file, found->address);
    if ((!function && type != STT_NOTYPE) || found->symbol.st_shndx == SHN_UNDEF || !found->name ||
        *found->name == 0 || !segment || !segment->executable)
        return;
    uint64_t limit = segment->address + segment->memory_size;
    bool in_section = in_executable_section(found->elf, found->section, found->symbol.st_value,
                                            found->address, &limit);
    /* Without its section a label could mark data; ".L" labels are the assembler's own. */
    if (!function && (!in_section || strncmp(found->name, ".L", 2) == 0))
        return;
    uint64_t size = found->symbol.st_size;
    if (size > limit - found->address)
        size = limit - found->address;
    *(struct code_symbol *)array_add(symbols) = (struct code_symbol){
        .name = without_version(found->name, names),
        .start = found->address,
        .end = found->address + size,
        .limit = limit,
        .source_file = source_file,
        .kind = function ? CODE_FUNCTION : CODE_LABEL,
        .binding = binding_of(&found->symbol),
    };
}

/* The first table of that type after `section`, or the first of all when that is NULL; NULL when
 * the file has none. */
static Elf_Scn *next_table(Elf *elf, Elf_Scn *section, GElf_Word type, GElf_Shdr *header)
{
    while ((section = elf_nextscn(elf, section)) != NULL)
        if (gelf_getshdr(section, header) && header->sh_type == type)
            return section;
    return NULL;
}

/* Returns whether it was `elf`'s own dynamic table: then there was no better one, but perhaps a
 * minimal one of debug data beside it. */
static bool read_best_table(Dwfl_Module *module, Elf *elf, GElf_Addr module_bias,
                            const struct image_file *file, struct arena *names,
                            struct array *symbols)
{
    bool has_own = false;
    GElf_Shdr header;
    int count = dwfl_module_getsymtab(module);
    array_reserve(symbols, count > 0 ? (size_t)count : 0);
    uint32_t source_file = 0;
    for (int i = 1; i < count; i++) {
        struct table_symbol found;
        GElf_Addr address, bias;
        found.name = dwfl_module_getsym_info(module, i, &found.symbol, &address, &found.section,
                                             &found.elf, &bias);
        if (!found.name)
            continue;
        if (GELF_ST_TYPE(found.symbol.st_info) == STT_FILE) {
            source_file++;
            continue;
        }
        found.address = address - module_bias;
        has_own |= found.elf == elf;
        add_symbol(&found, file, source_file, names, symbols);
    }
    return has_own && !next_table(elf, NULL, SHT_SYMTAB, &header);
}

static void read_table(Elf *elf, GElf_Word type, const struct image_file *file, struct arena *names,
                       struct array *symbols)
{
    GElf_Shdr header;
    for (Elf_Scn *section = NULL; (section = next_table(elf, section, type, &header)) != NULL;) {
        Elf_Data *data = elf_getdata(section, NULL);
        if (!data)
            continue;
        size_t count = data->d_size / sizeof(Elf64_Sym);
        for (size_t i = 1; i < count && i < INT32_MAX; i++) {
            struct table_symbol found = {.elf = elf};
            if (!gelf_getsym(data, (int)i, &found.symbol))
                continue;
            found.name = elf_strptr(elf, header.sh_link, found.symbol.st_name);
            found.section = found.symbol.st_shndx;
            found.address = found.symbol.st_value;
            add_symbol(&found, file, 0, names, symbols);
        }
    }
}

void elf_symbols_read(Dwfl_Module *module, const struct image_file *file, struct arena *names,
                      struct array *symbols)
{
    GElf_Addr bias = 0;
    Elf *elf = dwfl_module_getelf(module, &bias);
    bool was_dynamic = read_best_table(module, elf, bias, file, names, symbols);
    if (elf && !was_dynamic)
        read_table(elf, SHT_DYNSYM, file, names, symbols);
}

void elf_symbols_read_alone(const struct image_file *file, struct arena *names,
                            struct array *symbols)
{
    Elf *elf = elf_memory((char *)file->view.bytes, file->view.size);
    size_t first = symbols->count;
    if (elf)
        read_table(elf, SHT_SYMTAB, file, names, symbols);
    for (size_t i = first; i < symbols->count; i++) {
        struct code_symbol *symbol = array_at(symbols, i);
        symbol->name = arena_copy_string(names, symbol->name);
    }
    elf_end(elf);
}
