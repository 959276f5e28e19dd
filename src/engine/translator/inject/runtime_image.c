#include "engine/translator/inject/runtime_image.h"

#include "base/memory.h"
#include "engine/translator/inject/embedded_runtime.h"
#include "runtime/translator/layout.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

struct elf_file {
    const uint8_t *bytes;
    size_t size;
    const Elf64_Ehdr *header;
};

static bool unfit(const char *why, struct error *error)
{
    return error_set(
        error, ERROR_FORMAT,
        "the translator's runtime cannot be loaded: %s. This magic-trace was not built "
        "correctly.",
        why);
}

/* `count` elements of `size` bytes at `offset` of the file; NULL when they are not all there. */
static const void *part(const struct elf_file *file, uint64_t offset, uint64_t size, uint64_t count)
{
    uint64_t length, end;
    bool inside = !__builtin_mul_overflow(size, count, &length) &&
                  !__builtin_add_overflow(offset, length, &end) && end <= file->size &&
                  offset % 8 == 0;
    return inside ? file->bytes + offset : NULL;
}

static bool copy_segment(struct runtime_image *image, const struct elf_file *file,
                         const Elf64_Phdr *segment)
{
    uint64_t end;
    if (__builtin_add_overflow(segment->p_vaddr, segment->p_memsz, &end) ||
        segment->p_filesz > segment->p_memsz || segment->p_offset > file->size ||
        segment->p_filesz > file->size - segment->p_offset ||
        (segment->p_filesz > 0 && segment->p_vaddr + segment->p_filesz > TR_IMAGE_LIMIT))
        return false;
    memcpy(image->bytes + segment->p_vaddr, file->bytes + segment->p_offset, segment->p_filesz);
    if (segment->p_filesz > 0 && image->size < segment->p_vaddr + segment->p_filesz)
        image->size = segment->p_vaddr + segment->p_filesz;
    if (image->memory < end)
        image->memory = (end + TR_PAGE - 1) / TR_PAGE * TR_PAGE;
    return true;
}

static bool copy_segments(struct runtime_image *image, const struct elf_file *file,
                          struct error *error)
{
    const Elf64_Phdr *segments =
        part(file, file->header->e_phoff, sizeof *segments, file->header->e_phnum);
    if (!segments)
        return unfit("its program headers lie outside of it", error);
    for (size_t i = 0; i < file->header->e_phnum; i++) {
        if (segments[i].p_type == PT_DYNAMIC || segments[i].p_type == PT_INTERP)
            return unfit("it is linked dynamically", error);
        if (segments[i].p_type == PT_LOAD && !copy_segment(image, file, &segments[i]))
            return unfit("it is too large, or damaged", error);
    }
    return true;
}

static bool find_symbol(const struct elf_file *file, const Elf64_Shdr *table,
                        const Elf64_Shdr *names, const char *name, uint64_t *value)
{
    const Elf64_Sym *symbols =
        part(file, table->sh_offset, sizeof *symbols, table->sh_size / sizeof *symbols);
    size_t length = strlen(name) + 1;
    if (!symbols || names->sh_offset > file->size || names->sh_size > file->size - names->sh_offset)
        return false;
    const char *strings = (const char *)file->bytes + names->sh_offset;
    for (size_t i = 0; i < table->sh_size / sizeof *symbols; i++)
        if (symbols[i].st_name <= names->sh_size && length <= names->sh_size - symbols[i].st_name &&
            symbols[i].st_shndx != SHN_UNDEF &&
            memcmp(strings + symbols[i].st_name, name, length) == 0) {
            *value = symbols[i].st_value;
            return true;
        }
    return false;
}

static bool find_symbols(struct runtime_image *image, const struct elf_file *file,
                         struct error *error)
{
    const Elf64_Shdr *sections =
        part(file, file->header->e_shoff, sizeof *sections, file->header->e_shnum);
    for (size_t i = 0; sections && i < file->header->e_shnum; i++) {
        if (sections[i].sh_type != SHT_SYMTAB || sections[i].sh_link >= file->header->e_shnum)
            continue;
        const Elf64_Shdr *names = &sections[sections[i].sh_link];
        if (!find_symbol(file, &sections[i], names, "tr_start", &image->entry) ||
            !find_symbol(file, &sections[i], names, "tr_start_info", &image->start_info))
            break;
        if (image->entry >= image->size ||
            image->start_info + sizeof(struct tr_start) > image->memory)
            break;
        return true;
    }
    return unfit("it has no symbols tr_start and tr_start_info", error);
}

bool runtime_image_read(struct runtime_image *image, const uint8_t *bytes, size_t size,
                        struct error *error)
{
    struct elf_file file = {.bytes = bytes, .size = size};
    *image = (struct runtime_image){0};
    file.header = part(&file, 0, sizeof *file.header, 1);
    if (!file.header || memcmp(file.header->e_ident, ELFMAG, SELFMAG) != 0 ||
        file.header->e_ident[EI_CLASS] != ELFCLASS64 || file.header->e_machine != EM_X86_64)
        return unfit("it is no ELF file for x86-64", error);
    image->bytes = memory_allocate_zeroed(TR_IMAGE_LIMIT);
    if (copy_segments(image, &file, error) && find_symbols(image, &file, error))
        return true;
    runtime_image_free(image);
    return false;
}

bool runtime_image_embedded(struct runtime_image *image, struct error *error)
{
    return runtime_image_read(image, embedded_runtime, embedded_runtime_size, error);
}

void runtime_image_free(struct runtime_image *image)
{
    free(image->bytes);
    *image = (struct runtime_image){0};
}
