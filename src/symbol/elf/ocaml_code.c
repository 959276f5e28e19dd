#include "symbol/elf/ocaml_code.h"

#include "image/code_owner.h"
#include "symbol/code_symbol.h"
#include "symbol/elf/elf_sections.h"

#include <string.h>

static bool ends_with(const char *text, const char *end)
{
    size_t length = strlen(text), end_length = strlen(end);
    return length >= end_length && strcmp(text + length - end_length, end) == 0;
}

/* Each compiled module has camlMODULE__code_begin (of other releases, with another separator); the
 * runtime of native code has caml_start_program. */
static bool is_ocaml_symbol(const char *name)
{
    return strncmp(name, "caml", 4) == 0 &&
           (ends_with(name, "code_begin") || strcmp(name, "caml_start_program") == 0);
}

static bool has_ocaml_symbols(const struct array *symbols)
{
    for (size_t i = 0; i < symbols->count; i++) {
        const struct code_symbol *symbol = array_at(symbols, i);
        if (symbol->name && is_ocaml_symbol(symbol->name))
            return true;
    }
    return false;
}

static bool has_local_symbols(const struct array *symbols)
{
    for (size_t i = 0; i < symbols->count; i++) {
        const struct code_symbol *symbol = array_at(symbols, i);
        if (symbol->name && symbol->kind != CODE_GAP && symbol->binding == CODE_LOCAL)
            return true;
    }
    return false;
}

/* The strings are in .rodata, if the object has sections; searching the whole of a large file takes
 * long. */
static bool has_runtime_variable(Elf *elf, const struct image_file *file)
{
    static const char name[] = "OCAMLRUNPARAM";
    GElf_Shdr header;
    Elf_Scn *section = elf_find_section(elf, ".rodata", &header);
    Elf_Data *strings = section ? elf_rawdata(section, NULL) : NULL;
    if (strings && strings->d_buf)
        return memmem(strings->d_buf, strings->d_size, name, sizeof name) != NULL;
    return memmem(file->view.bytes, file->view.size, name, sizeof name) != NULL;
}

static bool learn(struct ocaml_code *code, const struct image_file *file)
{
    for (uint32_t i = 0; i < file->segment_count; i++) {
        const struct image_segment *segment = &file->segments[i];
        struct x86_code bytes = {file->view.bytes + segment->file_offset, segment->file_size,
                                 segment->address};
        if (segment->executable && x86_trap_learn(&bytes, &code->chain))
            return true;
    }
    return false;
}

void ocaml_code_find(struct ocaml_code *code, Elf *elf, const struct image_file *file,
                     const struct array *symbols)
{
    *code = (struct ocaml_code){.notes = array_of(sizeof(struct ocaml_note))};
    ocaml_notes_read(elf, &code->notes);
    bool may_be = code->notes.count > 0 || has_ocaml_symbols(symbols) ||
                  (code_owner_of_file(file) == CODE_OF_PROGRAM && !has_local_symbols(symbols) &&
                   has_runtime_variable(elf, file));
    code->present = (may_be && learn(code, file)) || code->notes.count > 0;
}

void ocaml_code_free(struct ocaml_code *code)
{
    array_free(&code->notes);
}
