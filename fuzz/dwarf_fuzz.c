/* Fuzz target: any bytes as the debug information of an object that is sound otherwise. Besides what elf_fuzz.c asks for:
 * the parameters and types of its functions, the places of a line, those at which a function is inlined.
 *
 * The input: the sizes of SECTIONS as 16 bits each, then their bytes, one after the other. What is missing is empty. */
#include "asked_symbols.h"

#include "base/arena.h"
#include "symbol/dwarf/inlined_search.h"
#include "symbol/dwarf/line_search.h"
#include "symbol/dwarf/signatures.h"

#include <elf.h>
#include <stdio.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static const char *const names[] = {
    ".debug_info",   ".debug_abbrev", ".debug_line",        ".debug_line_str", ".debug_str",
    ".debug_ranges", ".debug_addr",   ".debug_str_offsets", ".debug_rnglists", ".debug_aranges",
};

enum {
    SECTIONS = sizeof names / sizeof names[0],
    FIRST_DEBUG = 2, /* after the null section and .text */
    SYMBOLS = FIRST_DEBUG + SECTIONS,
    SYMBOL_NAMES,
    SECTION_NAMES,
    SECTION_COUNT,
    CODE_START = 0x1000, /* where linkers put it: as in what fuzz/run begins with */
    CODE_SIZE = 0x1000,
    FUNCTION_SIZE = 0x80,
    FUNCTIONS = CODE_SIZE / FUNCTION_SIZE,
};

struct built_object {
    struct array bytes; /* of the file */
    Elf64_Shdr headers[SECTION_COUNT];
    struct array names;
};

static void add_section(struct built_object *object, unsigned index, const char *name,
                        Elf64_Shdr header, const void *bytes)
{
    header.sh_name = (Elf64_Word)object->names.count;
    array_add_all(&object->names, name, strlen(name) + 1);
    header.sh_offset = object->bytes.count;
    header.sh_addralign = 1;
    array_add_all(&object->bytes, bytes, header.sh_size);
    object->headers[index] = header;
}

/* Functions without a gap between them. */
static void add_symbols(struct built_object *object)
{
    static const char name[] = "\0function";
    Elf64_Sym symbols[1 + FUNCTIONS] = {0};
    for (unsigned i = 0; i < FUNCTIONS; i++)
        symbols[1 + i] = (Elf64_Sym){.st_name = 1,
                                     .st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC),
                                     .st_shndx = 1,
                                     .st_value = CODE_START + i * FUNCTION_SIZE,
                                     .st_size = FUNCTION_SIZE};
    add_section(object, SYMBOLS, ".symtab",
                (Elf64_Shdr){.sh_type = SHT_SYMTAB,
                             .sh_size = sizeof symbols,
                             .sh_link = SYMBOL_NAMES,
                             .sh_info = 1,
                             .sh_entsize = sizeof symbols[0]},
                symbols);
    add_section(object, SYMBOL_NAMES, ".strtab",
                (Elf64_Shdr){.sh_type = SHT_STRTAB, .sh_size = sizeof name}, name);
}

static void add_debug_sections(struct built_object *object, const uint8_t *bytes, size_t size)
{
    uint16_t sizes[SECTIONS] = {0};
    size_t header = size < sizeof sizes ? size : sizeof sizes;
    memcpy(sizes, bytes, header);
    bytes += header;
    size -= header;
    for (unsigned i = 0; i < SECTIONS; i++) {
        size_t taken = sizes[i] < size ? sizes[i] : size;
        add_section(
            object, FIRST_DEBUG + i, names[i],
            (Elf64_Shdr){.sh_type = taken > 0 ? SHT_PROGBITS : SHT_NOBITS, .sh_size = taken},
            bytes);
        bytes += taken;
        size -= taken;
    }
}

static void add_section_names(struct built_object *object)
{
    static const char name[] = ".shstrtab";
    Elf64_Word own = (Elf64_Word)object->names.count;
    array_add_all(&object->names, name, sizeof name);
    object->headers[SECTION_NAMES] = (Elf64_Shdr){.sh_name = own,
                                                  .sh_type = SHT_STRTAB,
                                                  .sh_offset = object->bytes.count,
                                                  .sh_size = object->names.count,
                                                  .sh_addralign = 1};
    array_add_all(&object->bytes, object->names.elements, object->names.count);
}

static void put_headers(struct built_object *object)
{
    Elf64_Ehdr header = {
        .e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB, EV_CURRENT},
        .e_type = ET_DYN,
        .e_machine = EM_X86_64,
        .e_version = EV_CURRENT,
        .e_phoff = sizeof header,
        .e_shoff = object->bytes.count,
        .e_ehsize = sizeof header,
        .e_phentsize = sizeof(Elf64_Phdr),
        .e_phnum = 1,
        .e_shentsize = sizeof(Elf64_Shdr),
        .e_shnum = SECTION_COUNT,
        .e_shstrndx = SECTION_NAMES,
    };
    Elf64_Phdr segment = {.p_type = PT_LOAD,
                          .p_flags = PF_R | PF_X,
                          .p_filesz = CODE_START + CODE_SIZE,
                          .p_memsz = CODE_START + CODE_SIZE,
                          .p_align = CODE_START};
    memcpy(object->bytes.elements, &header, sizeof header);
    memcpy((char *)object->bytes.elements + sizeof header, &segment, sizeof segment);
    array_add_all(&object->bytes, object->headers, sizeof object->headers);
}

static struct array build(const uint8_t *bytes, size_t size)
{
    static const uint8_t code[CODE_SIZE];
    struct built_object object = {.bytes = array_of(1), .names = array_of(1)};
    array_add_all(&object.bytes, (const uint8_t[CODE_START]){0}, CODE_START);
    array_add(&object.names);
    add_section(&object, 1, ".text",
                (Elf64_Shdr){.sh_type = SHT_PROGBITS,
                             .sh_flags = SHF_ALLOC | SHF_EXECINSTR,
                             .sh_addr = CODE_START,
                             .sh_size = CODE_SIZE},
                code);
    add_debug_sections(&object, bytes, size);
    add_symbols(&object);
    add_section_names(&object);
    put_headers(&object);
    array_free(&object.names);
    return object.bytes;
}

static void ask_signatures(const char *path)
{
    struct signatures *signatures = signatures_open(path);
    if (!signatures)
        return;
    for (uint64_t address = CODE_START; address < CODE_START + CODE_SIZE; address += 16) {
        struct arena memory = {0};
        struct signature signature;
        if (signatures_find(signatures, address, "function", &memory, &signature) &&
            signature.argument_count > 0 && !signature.arguments)
            abort();
        signatures_is_of_file(signatures, address, "inlined_object.c");
        arena_free(&memory);
    }
    signatures_close(signatures);
}

static void search(const char *path)
{
    struct array places = array_of(sizeof(struct code_place)),
                 files = array_of(sizeof(const char *));
    struct array lines = array_of(sizeof(uint32_t));
    struct arena memory = {0};
    struct error error;
    const struct searched_line wanted = {"inlined_object.c", 20, 0};
    line_search(path, &wanted, &places, &error);
    inlined_search(path, "half", &places, &error);
    line_search_files(path, &files, &memory, &error);
    line_search_lines(path, "inlined_object.c", &lines, &error);
    array_free(&places);
    array_free(&files);
    array_free(&lines);
    arena_free(&memory);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    struct array built = build(bytes, size);
    struct mapped_object object;
    mapped_object_make(&object, built.elements, built.count);
    ask_symbols(&object);
    ask_signatures(object.path);
    search(object.path);
    mapped_object_free(&object);
    array_free(&built);
    return 0;
}
