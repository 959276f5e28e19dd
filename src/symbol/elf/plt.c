#include "symbol/elf/plt.h"

#include "symbol/code_symbol.h"
#include "symbol/symbol_choice.h"

#include <gelf.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* A GOT entry and the function whose address it will hold. */
struct got_entry {
    uint64_t address;
    const char *name;
};

struct plt_reader {
    Elf *elf;
    struct arena *names;
    struct array *symbols;
    struct array got; /* of struct got_entry, by address */
    /* Names (const char *) of the relocations of .rela.plt in their order; NULL: nameless. */
    struct array lazy;
};

static int compare_entries(const void *left, const void *right)
{
    const struct got_entry *a = left, *b = right;
    return (a->address > b->address) - (a->address < b->address);
}

static const char *name_in_got(const struct plt_reader *reader, uint64_t address)
{
    struct got_entry key = {.address = address};
    const struct got_entry *found =
        reader->got.count
            ? bsearch(&key, reader->got.elements, reader->got.count, sizeof key, compare_entries)
            : NULL;
    return found ? found->name : NULL;
}

/* The function that starts at `address`: the resolver of an IFUNC carries the IFUNC's name. */
static const char *name_of_function(const struct plt_reader *reader, uint64_t address)
{
    const struct code_symbol *best = NULL;
    for (size_t i = 0; i < reader->symbols->count; i++) {
        const struct code_symbol *symbol = array_at(reader->symbols, i);
        if (symbol->kind == CODE_FUNCTION && symbol->start == address &&
            (!best || symbol_choice_compare(symbol, best) < 0))
            best = symbol;
    }
    return best ? best->name : NULL;
}

static const char *name_of_dynamic_symbol(Elf *elf, const GElf_Shdr *relocations, size_t index)
{
    GElf_Shdr header;
    GElf_Sym symbol;
    Elf_Scn *section = elf_getscn(elf, relocations->sh_link);
    Elf_Data *data = section ? elf_getdata(section, NULL) : NULL;
    if (!data || index > INT32_MAX || !gelf_getshdr(section, &header) ||
        !gelf_getsym(data, (int)index, &symbol))
        return NULL;
    const char *name = elf_strptr(elf, header.sh_link, symbol.st_name);
    return name && *name ? name : NULL;
}

static void read_relocations(struct plt_reader *reader, Elf_Scn *section, const GElf_Shdr *header,
                             bool lazy)
{
    Elf_Data *data = elf_getdata(section, NULL);
    const char *relocations = data ? data->d_buf : NULL;
    size_t count = relocations ? data->d_size / sizeof(Elf64_Rela) : 0;
    for (size_t i = 0; i < count; i++) { /* hundreds of thousands: too many for gelf_getrela */
        Elf64_Rela relocation;
        memcpy(&relocation, relocations + i * sizeof relocation, sizeof relocation);
        const char *name = NULL;
        switch (ELF64_R_TYPE(relocation.r_info)) {
        case R_X86_64_JUMP_SLOT:
        case R_X86_64_GLOB_DAT:
            name = name_of_dynamic_symbol(reader->elf, header, ELF64_R_SYM(relocation.r_info));
            break;
        case R_X86_64_IRELATIVE:
            name = name_of_function(reader, (uint64_t)relocation.r_addend);
            break;
        }
        if (name)
            *(struct got_entry *)array_add(&reader->got) =
                (struct got_entry){relocation.r_offset, name};
        if (lazy)
            *(const char **)array_add(&reader->lazy) = name;
    }
}

static int32_t read_displacement(const uint8_t *bytes)
{
    int32_t value;
    memcpy(&value, bytes, sizeof value);
    return value;
}

/* What the slot of `size` bytes at `address` leads to; NULL: it is no slot. */
static const char *name_of_slot(const struct plt_reader *reader, const uint8_t *bytes, size_t size,
                                uint64_t address)
{
    /* jmp *displacement(%rip) is ff 25; in front of it may be endbr64, bnd, or mov of an index. */
    for (size_t i = 0; i + 6 <= size; i++) {
        if (bytes[i] != 0xff || bytes[i + 1] != 0x25)
            continue;
        uint64_t target = address + i + 6 + (uint64_t)(int64_t)read_displacement(bytes + i + 2);
        const char *name = name_in_got(reader, target);
        if (name)
            return name;
    }
    /* The lazy half: endbr64; push $index; [bnd] jmp header */
    static const uint8_t endbr64_push[] = {0xf3, 0x0f, 0x1e, 0xfa, 0x68};
    if (size >= sizeof endbr64_push + 4 && memcmp(bytes, endbr64_push, sizeof endbr64_push) == 0) {
        uint32_t index = (uint32_t)read_displacement(bytes + sizeof endbr64_push);
        if (index < reader->lazy.count)
            return *(const char **)array_at(&reader->lazy, index);
    }
    return NULL;
}

/* The first slot of a lazy PLT calls the dynamic linker: push GOT[1]; jmp *GOT[2]. */
static bool is_header(const uint8_t *bytes, size_t size)
{
    return size >= 8 && bytes[0] == 0xff && bytes[1] == 0x35;
}

static void add_slot(struct plt_reader *reader, const char *name, uint64_t start, uint64_t size)
{
    static const char suffix[] = "@plt";
    /* "memcpy@GLIBC_2.14" in the static table of a program whose relocations name it so */
    size_t length = strcspn(name, "@");
    char *full = arena_allocate(reader->names, length + sizeof suffix);
    memcpy(full, name, length);
    memcpy(full + length, suffix, sizeof suffix);
    *(struct code_symbol *)array_add(reader->symbols) = (struct code_symbol){
        .name = full,
        .start = start,
        .end = start + size,
        .limit = start + size,
        .kind = CODE_FUNCTION,
        .binding = CODE_GLOBAL,
    };
}

/* GNU ld does not write the size of .plt slots in static programs; there it is the alignment. */
static size_t slot_size_of(const GElf_Shdr *header)
{
    return header->sh_entsize == 8 || (header->sh_entsize == 0 && header->sh_addralign == 8) ? 8
                                                                                             : 16;
}

static void read_slots(struct plt_reader *reader, Elf_Scn *section, const GElf_Shdr *header)
{
    Elf_Data *data = elf_rawdata(section, NULL);
    size_t slot_size = slot_size_of(header);
    if (!data || !data->d_buf)
        return;
    for (size_t at = 0; at < data->d_size; at += slot_size) {
        const uint8_t *bytes = (const uint8_t *)data->d_buf + at;
        size_t size = data->d_size - at < slot_size ? data->d_size - at : slot_size;
        const char *name = at == 0 && is_header(bytes, size)
                               ? "_dl_runtime_resolve"
                               : name_of_slot(reader, bytes, size, header->sh_addr + at);
        if (name)
            add_slot(reader, name, header->sh_addr + at, size);
    }
}

/* Calls `read` with each section and its header, for it to select those that it needs. */
static void for_each_section(struct plt_reader *reader,
                             void (*read)(struct plt_reader *, Elf_Scn *, const GElf_Shdr *,
                                          const char *name))
{
    size_t names;
    if (elf_getshdrstrndx(reader->elf, &names) != 0)
        return;
    for (Elf_Scn *section = NULL; (section = elf_nextscn(reader->elf, section)) != NULL;) {
        GElf_Shdr header;
        const char *name =
            gelf_getshdr(section, &header) ? elf_strptr(reader->elf, names, header.sh_name) : NULL;
        if (name)
            read(reader, section, &header, name);
    }
}

static void read_if_relocations(struct plt_reader *reader, Elf_Scn *section,
                                const GElf_Shdr *header, const char *name)
{
    if (header->sh_type == SHT_RELA && (header->sh_flags & SHF_ALLOC) &&
        gelf_getclass(reader->elf) == ELFCLASS64)
        read_relocations(reader, section, header, strcmp(name, ".rela.plt") == 0);
}

static void read_if_slots(struct plt_reader *reader, Elf_Scn *section, const GElf_Shdr *header,
                          const char *name)
{
    bool plt =
        strcmp(name, ".plt") == 0 || strncmp(name, ".plt.", 5) == 0 || strcmp(name, ".iplt") == 0;
    if (plt && header->sh_type == SHT_PROGBITS && (header->sh_flags & SHF_EXECINSTR))
        read_slots(reader, section, header);
}

void plt_read(Elf *elf, struct arena *names, struct array *symbols)
{
    struct plt_reader reader = {
        .elf = elf,
        .names = names,
        .symbols = symbols,
        .got = array_of(sizeof(struct got_entry)),
        .lazy = array_of(sizeof(const char *)),
    };
    for_each_section(&reader, read_if_relocations);
    if (reader.got.count > 1)
        qsort(reader.got.elements, reader.got.count, sizeof(struct got_entry), compare_entries);
    for_each_section(&reader, read_if_slots);
    array_free(&reader.got);
    array_free(&reader.lazy);
}
