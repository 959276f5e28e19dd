#include "symbol/elf/ocaml_notes.h"

#include "symbol/elf/elf_sections.h"

#include <stdlib.h>
#include <string.h>

/* The bytes of one note that are not read yet. */
struct description {
    const uint8_t *next, *end;
};

static bool read_word(struct description *description, uint64_t *word)
{
    if ((size_t)(description->end - description->next) < sizeof *word)
        return false;
    memcpy(word, description->next, sizeof *word);
    description->next += sizeof *word;
    return true;
}

static bool skip_list(struct description *description)
{
    uint64_t address;
    while (read_word(description, &address))
        if (address == 0)
            return true;
    return false;
}

static bool read_list(struct description *description, uint64_t moved, bool push,
                      struct array *notes)
{
    uint64_t address;
    while (read_word(description, &address)) {
        if (address == 0)
            return true;
        *(struct ocaml_note *)array_add(notes) = (struct ocaml_note){address + moved, push};
    }
    return false;
}

static void read_note(struct description description, uint64_t base, struct array *notes)
{
    uint64_t recorded_base;
    if (read_word(&description, &recorded_base) && skip_list(&description) &&
        read_list(&description, base - recorded_base, true, notes))
        read_list(&description, base - recorded_base, false, notes);
}

static void read_section(Elf_Data *data, uint64_t base, struct array *notes)
{
    enum { TRAPS = 1 };
    static const char owner[] = "OCaml";
    GElf_Nhdr header;
    size_t offset = 0, name, description;
    while ((offset = gelf_getnote(data, offset, &header, &name, &description)) > 0) {
        const uint8_t *bytes = data->d_buf;
        struct description text = {bytes + description, bytes + description + header.n_descsz};
        if (header.n_type == TRAPS && header.n_namesz == sizeof owner &&
            memcmp(bytes + name, owner, sizeof owner) == 0)
            read_note(text, base, notes);
    }
}

static int compare_addresses(const void *left, const void *right)
{
    uint64_t a = ((const struct ocaml_note *)left)->address;
    uint64_t b = ((const struct ocaml_note *)right)->address;
    return (a > b) - (a < b);
}

static void sort_without_repetition(struct array *notes)
{
    if (notes->count == 0)
        return;
    qsort(notes->elements, notes->count, sizeof(struct ocaml_note), compare_addresses);
    struct ocaml_note *kept = notes->elements;
    size_t count = 1;
    for (size_t i = 1; i < notes->count; i++)
        if (kept[i].address != kept[count - 1].address)
            kept[count++] = kept[i];
    notes->count = count;
}

void ocaml_notes_read(Elf *elf, struct array *notes)
{
    GElf_Shdr base, header;
    Elf_Scn *section = elf_find_section(elf, ".note.ocaml_eh", &header);
    if (!section || header.sh_type == SHT_NOBITS || !elf_find_section(elf, ".stapsdt.base", &base))
        return;
    Elf_Data *data = elf_getdata(section, NULL);
    if (data && data->d_buf)
        read_section(data, base.sh_addr, notes);
    sort_without_repetition(notes);
}
