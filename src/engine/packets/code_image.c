#include "engine/packets/code_image.h"

#include <stddef.h>
#include <string.h>

static const char section_names[] = "\0.text\0.shstrtab";

enum { SECTION_NONE, SECTION_TEXT, SECTION_NAMES, SECTIONS, NAME_TEXT = 1, NAME_NAMES = 7 };

void code_image_begin(struct code_image *image)
{
    *image = (struct code_image){
        .header = {.e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB,
                               EV_CURRENT},
                   .e_type = ET_DYN,
                   .e_machine = EM_X86_64,
                   .e_version = EV_CURRENT,
                   .e_phoff = offsetof(struct code_image, parts),
                   .e_shoff = offsetof(struct code_image, sections),
                   .e_ehsize = sizeof(Elf64_Ehdr),
                   .e_phentsize = sizeof(Elf64_Phdr),
                   .e_shentsize = sizeof(Elf64_Shdr),
                   .e_shnum = SECTIONS,
                   .e_shstrndx = SECTION_NAMES},
        .sections[SECTION_NAMES] = {.sh_name = NAME_NAMES,
                                    .sh_type = SHT_STRTAB,
                                    .sh_offset = offsetof(struct code_image, names),
                                    .sh_size = sizeof section_names,
                                    .sh_addralign = 1},
    };
    memcpy(image->names, section_names, sizeof section_names);
}

/* Of the first part, which stands for all. */
static Elf64_Shdr text_section(const Elf64_Phdr *part)
{
    return (Elf64_Shdr){.sh_name = NAME_TEXT,
                        .sh_type = SHT_PROGBITS,
                        .sh_flags = SHF_ALLOC | SHF_EXECINSTR,
                        .sh_addr = part->p_vaddr,
                        .sh_offset = part->p_offset,
                        .sh_size = part->p_filesz,
                        .sh_addralign = 16};
}

bool code_image_add(struct code_image *image, uint64_t file_offset, uint64_t address, uint64_t size)
{
    if (image->header.e_phnum == CODE_IMAGE_PARTS)
        return false;
    Elf64_Phdr *part = &image->parts[image->header.e_phnum++];
    *part = (Elf64_Phdr){.p_type = PT_LOAD,
                         .p_flags = PF_R | PF_X,
                         .p_offset = file_offset,
                         .p_vaddr = address,
                         .p_filesz = size,
                         .p_memsz = size,
                         .p_align = 1};
    if (part == image->parts)
        image->sections[SECTION_TEXT] = text_section(part);
    return true;
}
