#include "runtime/qemu_plugin/code_image.h"

#include "runtime/qemu_plugin/private_file.h"

#include <elf.h>
#include <string.h>

static const char section_names[] = "\0.text\0.shstrtab";

enum {
    SECTION_NONE,
    SECTION_TEXT,
    SECTION_NAMES,
    SECTIONS,
    NAME_TEXT = 1,
    NAME_NAMES = 7,
    CODE_SIZE = CODE_IMAGE_PAGE + CODE_IMAGE_TAIL,
};

struct image {
    Elf64_Ehdr header;
    Elf64_Phdr segment;
    Elf64_Shdr sections[SECTIONS];
    char names[sizeof section_names];
    _Alignas(CODE_IMAGE_OFFSET) uint8_t code[CODE_SIZE];
};

_Static_assert(offsetof(struct image, code) == CODE_IMAGE_OFFSET, "mappings name this offset");

bool code_image_write(const char *path, uint64_t address, const uint8_t *code)
{
    struct image image = {
        .header = {.e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB,
                               EV_CURRENT},
                   .e_type = ET_DYN,
                   .e_machine = EM_X86_64,
                   .e_version = EV_CURRENT,
                   .e_phoff = offsetof(struct image, segment),
                   .e_shoff = offsetof(struct image, sections),
                   .e_ehsize = sizeof(Elf64_Ehdr),
                   .e_phentsize = sizeof(Elf64_Phdr),
                   .e_phnum = 1,
                   .e_shentsize = sizeof(Elf64_Shdr),
                   .e_shnum = SECTIONS,
                   .e_shstrndx = SECTION_NAMES},
        .segment = {.p_type = PT_LOAD,
                    .p_flags = PF_R | PF_X,
                    .p_offset = CODE_IMAGE_OFFSET,
                    .p_vaddr = address,
                    .p_filesz = CODE_SIZE,
                    .p_memsz = CODE_SIZE,
                    .p_align = CODE_IMAGE_PAGE},
        .sections[SECTION_TEXT] = {.sh_name = NAME_TEXT,
                                   .sh_type = SHT_PROGBITS,
                                   .sh_flags = SHF_ALLOC | SHF_EXECINSTR,
                                   .sh_addr = address,
                                   .sh_offset = CODE_IMAGE_OFFSET,
                                   .sh_size = CODE_SIZE,
                                   .sh_addralign = 16},
        .sections[SECTION_NAMES] = {.sh_name = NAME_NAMES,
                                    .sh_type = SHT_STRTAB,
                                    .sh_offset = offsetof(struct image, names),
                                    .sh_size = sizeof section_names,
                                    .sh_addralign = 1},
    };
    memcpy(image.names, section_names, sizeof section_names);
    memcpy(image.code, code, CODE_SIZE);
    return private_file_write(path, &image, offsetof(struct image, code) + CODE_SIZE);
}
