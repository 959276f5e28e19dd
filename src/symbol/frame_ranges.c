#include "symbol/frame_ranges.h"

#include "symbol/code_symbol.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <gelf.h>
#include <stdbool.h>
#include <string.h>

struct frame_reader {
    const unsigned char *ident; /* e_ident of the object */
    Elf_Data *data;             /* of .eh_frame */
    uint64_t address;           /* of the section */
    struct array *symbols;
    /* The encoding of pointers in FDEs, of the CIE seen last. */
    Dwarf_Off cie_offset;
    uint8_t encoding;
    bool cie_known;
};

/* The 'R' byte of a CIE's augmentation: the characters before it say what lies before the byte. */
static bool encoding_of_cie(const Dwarf_CIE *cie, uint8_t *encoding)
{
    *encoding = DW_EH_PE_absptr;
    if (cie->augmentation[0] != 'z')
        return cie->augmentation[0] == 0;
    const uint8_t *data = cie->augmentation_data;
    size_t left = cie->augmentation_data_size;
    for (const char *letter = cie->augmentation + 1; *letter; letter++) {
        size_t size;
        if (left == 0)
            return *letter == 'S' || *letter == 'B';
        switch (*letter) {
        case 'R':
            *encoding = *data;
            return true;
        case 'L':
            size = 1;
            break;
        case 'P':
            /* The personality routine: its encoding, then a pointer of 4 or 8 bytes. */
            size = 1 + ((*data & 7) == DW_EH_PE_absptr || (*data & 7) == DW_EH_PE_udata8 ? 8 : 4);
            break;
        case 'S':
        case 'B':
            size = 0;
            break;
        default:
            return false;
        }
        if (size > left)
            return false;
        data += size;
        left -= size;
    }
    return true;
}

static bool load_encoding(struct frame_reader *reader, Dwarf_Off cie_offset)
{
    if (reader->cie_known && reader->cie_offset == cie_offset)
        return true;
    Dwarf_CFI_Entry entry;
    Dwarf_Off next;
    if (dwarf_next_cfi(reader->ident, reader->data, true, cie_offset, &next, &entry) != 0 ||
        !dwarf_cfi_cie_p(&entry) || !encoding_of_cie(&entry.cie, &reader->encoding))
        return false;
    reader->cie_offset = cie_offset;
    reader->cie_known = true;
    return true;
}

/* A pointer's value without what it is relative to, and its size in bytes; 0 for an encoding not
 * understood. */
static size_t read_value(const uint8_t *bytes, const uint8_t *end, uint8_t format, uint64_t *value)
{
    size_t left = (size_t)(end - bytes);
    if ((format == DW_EH_PE_sdata4 || format == DW_EH_PE_udata4) && left >= 4) {
        uint32_t word;
        memcpy(&word, bytes, sizeof word);
        *value = format == DW_EH_PE_sdata4 ? (uint64_t)(int64_t)(int32_t)word : word;
        return 4;
    }
    if ((format == DW_EH_PE_absptr || format == DW_EH_PE_sdata8 || format == DW_EH_PE_udata8) &&
        left >= 8) {
        memcpy(value, bytes, sizeof *value);
        return 8;
    }
    return 0;
}

static void add_frame(struct frame_reader *reader, const Dwarf_FDE *fde)
{
    enum { FORMAT = 0x0f, RELATIVE_TO = 0x70 };
    if (!load_encoding(reader, fde->CIE_pointer))
        return;
    uint64_t start, length, end;
    size_t size = read_value(fde->start, fde->end, reader->encoding & FORMAT, &start);
    /* The length has the same format, but is relative to nothing and never negative. */
    if (size == 0 ||
        read_value(fde->start + size, fde->end, reader->encoding & FORMAT, &length) == 0)
        return;
    if ((reader->encoding & RELATIVE_TO) == DW_EH_PE_pcrel)
        start += reader->address + (uint64_t)(fde->start - (const uint8_t *)reader->data->d_buf);
    else if ((reader->encoding & RELATIVE_TO) != DW_EH_PE_absptr)
        return;
    if (length == 0 || __builtin_add_overflow(start, length, &end))
        return;
    *(struct code_symbol *)array_add(reader->symbols) = (struct code_symbol){
        .start = start,
        .end = end,
        .limit = end,
        .kind = CODE_FRAME,
    };
}

static void read_section(struct frame_reader *reader)
{
    Dwarf_Off offset = 0, next;
    Dwarf_CFI_Entry entry;
    /* A damaged entry still says where the next one is; it is good as long as that moves on. */
    for (;;) {
        next = offset;
        int result = dwarf_next_cfi(reader->ident, reader->data, true, offset, &next, &entry);
        if (result == 0 && !dwarf_cfi_cie_p(&entry))
            add_frame(reader, &entry.fde);
        if (next <= offset || next >= reader->data->d_size)
            break;
        offset = next;
    }
}

static Elf_Data *find_section(Elf *elf, const char *wanted, uint64_t *address)
{
    size_t names;
    if (elf_getshdrstrndx(elf, &names) != 0)
        return NULL;
    for (Elf_Scn *section = NULL; (section = elf_nextscn(elf, section)) != NULL;) {
        GElf_Shdr header;
        if (!gelf_getshdr(section, &header) || header.sh_type == SHT_NOBITS ||
            (header.sh_flags & SHF_COMPRESSED))
            continue;
        const char *name = elf_strptr(elf, names, header.sh_name);
        if (name && strcmp(name, wanted) == 0) {
            *address = header.sh_addr;
            return elf_rawdata(section, NULL);
        }
    }
    return NULL;
}

void frame_ranges_read(Elf *elf, struct array *symbols)
{
    struct frame_reader reader = {
        .ident = (const unsigned char *)elf_getident(elf, NULL),
        .symbols = symbols,
    };
    reader.data = find_section(elf, ".eh_frame", &reader.address);
    if (reader.ident && reader.data && reader.data->d_buf && reader.data->d_size > 0)
        read_section(&reader);
}
