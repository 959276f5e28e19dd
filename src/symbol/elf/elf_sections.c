#include "symbol/elf/elf_sections.h"

#include <string.h>

Elf_Scn *elf_find_section(Elf *elf, const char *wanted, GElf_Shdr *header)
{
    size_t names;
    if (elf_getshdrstrndx(elf, &names) != 0)
        return NULL;
    for (Elf_Scn *section = NULL; (section = elf_nextscn(elf, section)) != NULL;) {
        const char *name =
            gelf_getshdr(section, header) ? elf_strptr(elf, names, header->sh_name) : NULL;
        if (name && strcmp(name, wanted) == 0)
            return section;
    }
    return NULL;
}
