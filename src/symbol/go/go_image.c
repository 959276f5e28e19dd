#include "symbol/go/go_image.h"

#include <gelf.h>
#include <stdlib.h>
#include <string.h>

const uint8_t *go_image_bytes(const struct go_image *image, uint64_t address, size_t *size)
{
    const struct image_segment *segment = image_file_segment(image->file, address);
    if (!segment || address - segment->address >= segment->file_size)
        return NULL;
    uint64_t distance = address - segment->address;
    *size = segment->file_size - distance;
    return image->file->view.bytes + segment->file_offset + distance;
}

/* The tags of the dynamic section that say where the relocations are. */
struct dynamic_relocations {
    uint64_t address, size;
};

static struct dynamic_relocations find_relocations(Elf *elf, const struct go_image *image)
{
    struct dynamic_relocations found = {0};
    size_t count = 0;
    GElf_Phdr header;
    elf_getphdrnum(elf, &count);
    for (size_t i = 0; i < count && gelf_getphdr(elf, (int)i, &header); i++) {
        size_t size;
        const uint8_t *bytes =
            header.p_type == PT_DYNAMIC ? go_image_bytes(image, header.p_vaddr, &size) : NULL;
        if (!bytes)
            continue;
        if (size > header.p_filesz)
            size = header.p_filesz;
        for (size_t at = 0; at + sizeof(Elf64_Dyn) <= size; at += sizeof(Elf64_Dyn)) {
            Elf64_Dyn entry;
            memcpy(&entry, bytes + at, sizeof entry);
            if (entry.d_tag == DT_NULL)
                break;
            if (entry.d_tag == DT_RELA)
                found.address = entry.d_un.d_ptr;
            else if (entry.d_tag == DT_RELASZ)
                found.size = entry.d_un.d_val;
        }
    }
    return found;
}

static int by_address(const void *left, const void *right)
{
    const struct go_relocation *a = left, *b = right;
    return (a->address > b->address) - (a->address < b->address);
}

void go_image_open(struct go_image *image, Elf *elf, const struct image_file *file)
{
    *image = (struct go_image){file, array_of(sizeof(struct go_relocation))};
    struct dynamic_relocations where = find_relocations(elf, image);
    size_t size;
    const uint8_t *bytes = where.size ? go_image_bytes(image, where.address, &size) : NULL;
    if (!bytes)
        return;
    if (size > where.size)
        size = where.size;
    bool sorted = true;
    uint64_t last = 0;
    for (size_t at = 0; at + sizeof(Elf64_Rela) <= size; at += sizeof(Elf64_Rela)) {
        Elf64_Rela entry;
        memcpy(&entry, bytes + at, sizeof entry);
        if (ELF64_R_TYPE(entry.r_info) != R_X86_64_RELATIVE)
            continue;
        *(struct go_relocation *)array_add(&image->relocations) =
            (struct go_relocation){entry.r_offset, (uint64_t)entry.r_addend};
        sorted &= entry.r_offset >= last;
        last = entry.r_offset;
    }
    if (!sorted)
        qsort(image->relocations.elements, image->relocations.count, sizeof(struct go_relocation),
              by_address);
}

void go_image_close(struct go_image *image)
{
    array_free(&image->relocations);
}

static const struct go_relocation *find_relocation(const struct go_image *image, uint64_t address)
{
    struct go_relocation key = {.address = address};
    if (image->relocations.count == 0)
        return NULL;
    return bsearch(&key, image->relocations.elements, image->relocations.count, sizeof key,
                   by_address);
}

bool go_image_word(const struct go_image *image, uint64_t address, uint64_t *value)
{
    size_t size;
    const uint8_t *bytes = go_image_bytes(image, address, &size);
    if (!bytes || size < sizeof *value)
        return false;
    const struct go_relocation *relocation = find_relocation(image, address);
    if (relocation)
        *value = relocation->value;
    else
        memcpy(value, bytes, sizeof *value);
    return true;
}
