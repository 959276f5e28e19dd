#include "symbol/eh_frame/frame_entries.h"

#include "symbol/eh_frame/eh_pointer.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <gelf.h>
#include <stdbool.h>
#include <string.h>

/* What a CIE says about the FDEs that refer to it. */
struct augmentation {
    uint8_t code_encoding;  /* 'R': of where the function begins */
    uint8_t table_encoding; /* 'L': of the LSDA; DW_EH_PE_omit: it has no LSDA */
    bool sized;             /* 'z': FDEs have augmentation data, with its size */
    bool signal_frame;      /* 'S': a signal handler returns there */
};

struct frame_reader {
    const struct image_file *file;
    const unsigned char *ident; /* e_ident of the object */
    Elf_Data *data;             /* of .eh_frame */
    uint64_t address;           /* of the section */
    struct eh_bases bases;
    struct array *entries;
    /* The CIE seen last. */
    Dwarf_Off cie_offset;
    struct augmentation augmentation;
    bool cie_known;
};

static struct eh_reader reader_of(const struct frame_reader *frames, const uint8_t *next,
                                  const uint8_t *end)
{
    return (struct eh_reader){
        .start = frames->data->d_buf, .next = next, .end = end, .address = frames->address};
}

/* The letters say what the bytes of the augmentation data are. */
static bool read_letters(const struct frame_reader *frames, const char *letters,
                         struct eh_reader *reader, struct augmentation *augmentation)
{
    for (; *letters; letters++) {
        switch (*letters) {
        case 'R':
            augmentation->code_encoding = eh_read_byte(reader);
            break;
        case 'L':
            augmentation->table_encoding = eh_read_byte(reader);
            break;
        case 'P': /* the personality routine */
            eh_read_pointer(reader, eh_read_byte(reader), &frames->bases);
            break;
        case 'S':
            augmentation->signal_frame = true;
            break;
        case 'B':
            break;
        default:
            return false;
        }
    }
    return !reader->failed;
}

static bool read_cie(const struct frame_reader *frames, const Dwarf_CIE *cie,
                     struct augmentation *augmentation)
{
    *augmentation = (struct augmentation){DW_EH_PE_absptr, DW_EH_PE_omit, false, false};
    if (cie->augmentation[0] != 'z')
        return cie->augmentation[0] == 0;
    augmentation->sized = true;
    struct eh_reader reader = reader_of(frames, cie->augmentation_data,
                                        cie->augmentation_data + cie->augmentation_data_size);
    return read_letters(frames, cie->augmentation + 1, &reader, augmentation);
}

static bool load_cie(struct frame_reader *frames, Dwarf_Off offset)
{
    if (frames->cie_known && frames->cie_offset == offset)
        return true;
    Dwarf_CFI_Entry entry;
    Dwarf_Off next;
    frames->cie_known = false;
    if (dwarf_next_cfi(frames->ident, frames->data, true, offset, &next, &entry) != 0 ||
        !dwarf_cfi_cie_p(&entry) || !read_cie(frames, &entry.cie, &frames->augmentation))
        return false;
    frames->cie_offset = offset;
    frames->cie_known = true;
    return true;
}

/* The address that lies at `place` of the object, as it is in the file: before relocation. 0 when
 * it is not in the file. */
static uint64_t follow(const struct image_file *file, uint64_t place)
{
    uint64_t offset, address;
    if (!image_file_offset(file, place, &offset, NULL) || offset > file->view.size ||
        file->view.size - offset < sizeof address)
        return 0;
    memcpy(&address, file->view.bytes + offset, sizeof address);
    return address;
}

static uint64_t read_exception_table(struct frame_reader *frames, struct eh_reader *reader)
{
    const struct augmentation *augmentation = &frames->augmentation;
    if (!augmentation->sized || augmentation->table_encoding == DW_EH_PE_omit)
        return 0;
    uint64_t size = eh_read_unsigned(reader);
    if (size == 0 || size > (uint64_t)(reader->end - reader->next))
        return 0;
    reader->end = reader->next + size;
    uint64_t table = eh_read_pointer(reader, augmentation->table_encoding, &frames->bases);
    return table && augmentation->table_encoding & DW_EH_PE_indirect ? follow(frames->file, table)
                                                                     : table;
}

/* Unwinders look for the byte before a return address, and a handler returns to the first byte of
 * its restorer: so its FDE begins one byte before, and the restorer at a boundary (glibc,
 * sysdeps/unix/sysv/linux/x86_64/libc_sigaction.c). */
static bool begins_before_function(const struct frame_reader *frames, uint64_t start)
{
    enum { FUNCTION_ALIGNMENT = 16 };
    return frames->augmentation.signal_frame && (start + 1) % FUNCTION_ALIGNMENT == 0;
}

static void add_entry(struct frame_reader *frames, const Dwarf_FDE *fde)
{
    if (!load_cie(frames, fde->CIE_pointer))
        return;
    struct eh_reader reader = reader_of(frames, fde->start, fde->end);
    uint8_t encoding = frames->augmentation.code_encoding;
    uint64_t start = eh_read_pointer(&reader, encoding, &frames->bases), end;
    /* The length has the same format, but is relative to nothing and never negative. */
    uint64_t length = eh_read_value(&reader, encoding);
    if (reader.failed || encoding & DW_EH_PE_indirect || length == 0 ||
        __builtin_add_overflow(start, length, &end))
        return;
    frames->bases.function = start;
    *(struct frame_entry *)array_add(frames->entries) = (struct frame_entry){
        .start = start + (length > 1 && begins_before_function(frames, start)),
        .end = end,
        .exception_table = read_exception_table(frames, &reader),
    };
}

static void read_section(struct frame_reader *frames)
{
    Dwarf_Off offset = 0, next;
    Dwarf_CFI_Entry entry;
    /* A damaged entry still says where the next one is; it is good as long as that moves on. */
    for (;;) {
        next = offset;
        int result = dwarf_next_cfi(frames->ident, frames->data, true, offset, &next, &entry);
        if (result == 0 && !dwarf_cfi_cie_p(&entry))
            add_entry(frames, &entry.fde);
        if (next <= offset || next >= frames->data->d_size)
            break;
        offset = next;
    }
}

/* Sections that only give a base need no bytes. */
static void note_section(struct frame_reader *frames, Elf_Scn *section, const char *name,
                         const GElf_Shdr *header)
{
    if (strcmp(name, ".text") == 0)
        frames->bases.text = header->sh_addr;
    /* The global offset table begins where .got.plt does; without that one, with .got. */
    if (strcmp(name, ".got.plt") == 0 || (strcmp(name, ".got") == 0 && !frames->bases.data))
        frames->bases.data = header->sh_addr;
    if (strcmp(name, ".eh_frame") == 0 && !frames->data && header->sh_type != SHT_NOBITS &&
        !(header->sh_flags & SHF_COMPRESSED)) {
        frames->address = header->sh_addr;
        frames->data = elf_rawdata(section, NULL);
    }
}

static void find_sections(struct frame_reader *frames, Elf *elf)
{
    size_t names;
    if (elf_getshdrstrndx(elf, &names) != 0)
        return;
    for (Elf_Scn *section = NULL; (section = elf_nextscn(elf, section)) != NULL;) {
        GElf_Shdr header;
        const char *name =
            gelf_getshdr(section, &header) ? elf_strptr(elf, names, header.sh_name) : NULL;
        if (name)
            note_section(frames, section, name, &header);
    }
}

void frame_entries_read(Elf *elf, const struct image_file *file, struct array *entries)
{
    struct frame_reader frames = {
        .file = file,
        .ident = (const unsigned char *)elf_getident(elf, NULL),
        .entries = entries,
    };
    find_sections(&frames, elf);
    if (frames.ident && frames.data && frames.data->d_buf && frames.data->d_size > 0)
        read_section(&frames);
}
