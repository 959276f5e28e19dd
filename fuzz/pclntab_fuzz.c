/* Fuzz target: any bytes as the data of a stripped Go program: its table of functions, and what that refers to. Besides what
 * elf_fuzz.c asks for: the list of functions, the places of a line, those at which a function is inlined.
 *
 * The input: what the file has (enum), one byte; where its dynamic section is, 16 bits; then the data, which begins with the
 * table. */
#include "asked_symbols.h"

#include "base/arena.h"
#include "symbol/dwarf/inlined_search.h"
#include "symbol/dwarf/line_search.h"
#include "symbol/function_list.h"

#include <elf.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

enum {
    HAS_NO_SECTIONS = 1,   /* then the table is found by its first bytes */
    HAS_OTHER_SECTION = 2, /* and no .gopclntab: likewise */
    HAS_RELOCATIONS = 4,   /* a dynamic section */
};

/* Addresses are offsets in the file: as in fuzz/run, which makes the seeds. */
enum {
    CODE_START = 0x1000,
    CODE_SIZE = 0x1000,
    DATA_START = CODE_START + CODE_SIZE,
    HEADER_SIZE = 3,
    SEGMENTS = 3,
    SECTIONS = 3,
};

struct section_names {
    char none[1];
    char table[sizeof ".gopclntab"];
    char other[sizeof ".go.buildinfo"];
    char names[sizeof ".shstrtab"];
};
static const struct section_names section_names = {"", ".gopclntab", ".go.buildinfo", ".shstrtab"};

static void put_sections(struct array *file, size_t data_size, unsigned has)
{
    size_t names = file->count;
    array_add_all(file, &section_names, sizeof section_names);
    const Elf64_Shdr headers[SECTIONS] = {
        {0},
        {.sh_name = has & HAS_OTHER_SECTION ? offsetof(struct section_names, other)
                                            : offsetof(struct section_names, table),
         .sh_type = SHT_PROGBITS,
         .sh_flags = SHF_ALLOC,
         .sh_addr = DATA_START,
         .sh_offset = DATA_START,
         .sh_size = data_size,
         .sh_addralign = 1},
        {.sh_name = offsetof(struct section_names, names),
         .sh_type = SHT_STRTAB,
         .sh_offset = names,
         .sh_size = sizeof section_names,
         .sh_addralign = 1},
    };
    Elf64_Ehdr *header = file->elements;
    header->e_shoff = file->count;
    header->e_shnum = SECTIONS;
    header->e_shstrndx = SECTIONS - 1;
    array_add_all(file, headers, sizeof headers);
}

static struct array build(const uint8_t *data, size_t size, unsigned has, uint16_t dynamic)
{
    const Elf64_Ehdr header = {
        .e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB, EV_CURRENT},
        .e_type = ET_DYN,
        .e_machine = EM_X86_64,
        .e_version = EV_CURRENT,
        .e_phoff = sizeof header,
        .e_ehsize = sizeof header,
        .e_phentsize = sizeof(Elf64_Phdr),
        .e_phnum = has & HAS_RELOCATIONS ? SEGMENTS : SEGMENTS - 1,
        .e_shentsize = sizeof(Elf64_Shdr),
    };
    const Elf64_Phdr segments[SEGMENTS] = {
        {.p_type = PT_LOAD,
         .p_flags = PF_R | PF_X,
         .p_filesz = DATA_START,
         .p_memsz = DATA_START,
         .p_align = CODE_START},
        {.p_type = PT_LOAD,
         .p_flags = PF_R | PF_W,
         .p_offset = DATA_START,
         .p_vaddr = DATA_START,
         .p_filesz = size,
         .p_memsz = size,
         .p_align = CODE_START},
        {.p_type = PT_DYNAMIC,
         .p_flags = PF_R | PF_W,
         .p_offset = DATA_START + (uint64_t)dynamic,
         .p_vaddr = DATA_START + (uint64_t)dynamic,
         .p_filesz = 0x100,
         .p_memsz = 0x100,
         .p_align = 8},
    };
    static const uint8_t nothing[DATA_START];
    struct array file = array_of(1);
    array_add_all(&file, nothing, DATA_START);
    memcpy(file.elements, &header, sizeof header);
    memcpy((char *)file.elements + sizeof header, segments, sizeof segments);
    array_add_all(&file, data, size);
    if (!(has & HAS_NO_SECTIONS))
        put_sections(&file, size, has);
    return file;
}

static void search(const char *path)
{
    struct array places = array_of(sizeof(struct code_place)),
                 files = array_of(sizeof(const char *));
    struct array lines = array_of(sizeof(uint32_t));
    struct arena memory = {0};
    struct function_list list;
    struct error error;
    const struct searched_line wanted = {"other.go", 20, 0};
    line_search(path, &wanted, &places, &error);
    inlined_search(path, "main.small", &places, &error);
    line_search_files(path, &files, &memory, &error);
    line_search_lines(path, "main.go", &lines, &error);
    function_list_open(&list, path, &error);
    function_list_close(&list);
    array_free(&places);
    array_free(&files);
    array_free(&lines);
    arena_free(&memory);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    if (size < HEADER_SIZE)
        return 0;
    struct array built = build(bytes + HEADER_SIZE, size - HEADER_SIZE, bytes[0],
                               (uint16_t)(bytes[1] | bytes[2] << 8));
    struct mapped_object object;
    mapped_object_make(&object, built.elements, built.count);
    ask_symbols(&object);
    search(object.path);
    mapped_object_free(&object);
    array_free(&built);
    return 0;
}
