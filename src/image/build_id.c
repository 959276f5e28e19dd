#include "image/build_id.h"

#include <gelf.h>
#include <stdio.h>
#include <string.h>

struct build_id build_id_of(const uint8_t *bytes, size_t size)
{
    struct build_id id = {.size = (uint8_t)(size < BUILD_ID_SIZE ? size : BUILD_ID_SIZE)};
    memcpy(id.bytes, bytes, id.size);
    return id;
}

/* Among the notes of `data`. */
static struct build_id find_in_notes(Elf_Data *data)
{
    GElf_Nhdr note;
    size_t name, description;
    for (size_t next, at = 0;
         data && (next = gelf_getnote(data, at, &note, &name, &description)) > 0; at = next) {
        const char *bytes = data->d_buf;
        if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == sizeof "GNU" && note.n_descsz > 0 &&
            memcmp(bytes + name, "GNU", sizeof "GNU") == 0)
            return build_id_of((const uint8_t *)bytes + description, note.n_descsz);
    }
    return (struct build_id){.size = 0};
}

struct build_id build_id_of_object(Elf *elf, size_t size)
{
    struct build_id id = {.size = 0};
    size_t header_count;
    if (elf_getphdrnum(elf, &header_count) != 0)
        return id;
    for (size_t i = 0; i < header_count && id.size == 0; i++) {
        GElf_Phdr header;
        if (!gelf_getphdr(elf, (int)i, &header) || header.p_type != PT_NOTE ||
            header.p_offset > size || header.p_filesz > size - header.p_offset)
            continue;
        id = find_in_notes(elf_getdata_rawchunk(elf, (int64_t)header.p_offset, header.p_filesz,
                                                header.p_align == 8 ? ELF_T_NHDR8 : ELF_T_NHDR));
    }
    return id;
}

bool build_id_equal(const struct build_id *left, const struct build_id *right)
{
    /* The bytes after the size are 0. */
    return left->size > 0 && right->size > 0 &&
           memcmp(left->bytes, right->bytes, BUILD_ID_SIZE) == 0;
}

void build_id_format(const struct build_id *id, char *text)
{
    *text = 0;
    for (size_t i = 0; i < id->size; i++)
        snprintf(text + 2 * i, 3, "%02x", id->bytes[i]);
}
