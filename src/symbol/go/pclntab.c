#include "symbol/go/pclntab.h"

#include "base/memory.h"
#include "base/number_order.h"
#include "symbol/code_symbol.h"
#include "symbol/elf/elf_sections.h"
#include "symbol/go/go_module.h"

#include <gelf.h>
#include <stdlib.h>
#include <string.h>

enum {
    HEAD_SIZE = 8, /* magic, two zeros, size of the smallest instruction, size of a pointer */
    WORD = 8,
    NAME_LONGEST = 1 << 14, /* bytes; the linker's longest are some hundred */
    VALUES_MOST = 1 << 20,  /* of one function */
    VARINT_LONGEST = 5,     /* bytes of a number of 32 bits */
};

#define MODULE_UNKNOWN UINT64_MAX /* it has not been searched for */

static const uint32_t magics[] = {
    [PCLNTAB_GO_1_2] = 0xfffffffb,
    [PCLNTAB_GO_1_16] = 0xfffffffa,
    [PCLNTAB_GO_1_18] = 0xfffffff0,
    [PCLNTAB_GO_1_20] = 0xfffffff1,
};

/* ---- Numbers and parts ---- */

static uint32_t read_u32(const uint8_t *bytes)
{
    uint32_t value;
    memcpy(&value, bytes, sizeof value);
    return value;
}

static struct pclntab_part part_from(struct pclntab_part whole, uint64_t offset)
{
    if (offset >= whole.size)
        return (struct pclntab_part){0};
    return (struct pclntab_part){whole.bytes + offset, whole.size - offset};
}

/* A number of 32 bits in a part; 0 beyond its end. */
static uint32_t number_at(struct pclntab_part part, uint64_t offset)
{
    return offset <= part.size && part.size - offset >= sizeof(uint32_t)
               ? read_u32(part.bytes + offset)
               : 0;
}

/* The text at an offset; NULL: it does not end within the part, or is too long. */
static const char *text_at(struct pclntab_part part, uint64_t offset)
{
    struct pclntab_part rest = part_from(part, offset);
    size_t longest = rest.size < NAME_LONGEST ? rest.size : NAME_LONGEST;
    return longest > 0 && memchr(rest.bytes, 0, longest) ? (const char *)rest.bytes : NULL;
}

/* ---- Finding and opening the table ---- */

static bool is_head(const uint8_t *bytes, enum pclntab_version *version)
{
    uint32_t magic = read_u32(bytes);
    if (bytes[4] != 0 || bytes[5] != 0 || bytes[6] != 1 || bytes[7] != WORD)
        return false;
    for (size_t i = 0; i < sizeof magics / sizeof magics[0]; i++)
        if (magics[i] == magic) {
            *version = (enum pclntab_version)i;
            return true;
        }
    return false;
}

static bool read_parts_1_2(struct pclntab *table)
{
    uint64_t count, functions = HEAD_SIZE + WORD;
    if (!go_image_word(&table->image, table->address + HEAD_SIZE, &count) ||
        count > table->whole.size / (2 * WORD))
        return false;
    table->function_count = (uint32_t)count;
    table->entries = part_from(table->whole, functions);
    table->names = table->records = table->values = table->whole;
    table->files =
        part_from(table->whole, number_at(table->whole, functions + (2 * count + 1) * WORD));
    return true;
}

/* Since Go 1.16 the head says where the parts are: at offsets from it, in this order. */
static bool read_parts(struct pclntab *table)
{
    enum { COUNT, FILE_COUNT, NAMES, UNITS, FILES, VALUES, FUNCTIONS, WORDS };
    bool has_text = table->version >= PCLNTAB_GO_1_18; /* after FILE_COUNT */
    uint64_t words[WORDS];
    for (unsigned i = 0; i < WORDS; i++) {
        unsigned place = i + (has_text && i >= NAMES ? 1 : 0);
        if (!go_image_word(&table->image, table->address + HEAD_SIZE + place * WORD, &words[i]))
            return false;
    }
    if (has_text &&
        !go_image_word(&table->image, table->address + HEAD_SIZE + NAMES * WORD, &table->text))
        return false;
    table->names = part_from(table->whole, words[NAMES]);
    table->units = part_from(table->whole, words[UNITS]);
    table->files = part_from(table->whole, words[FILES]);
    table->values = part_from(table->whole, words[VALUES]);
    table->entries = table->records = part_from(table->whole, words[FUNCTIONS]);
    if (words[COUNT] > UINT32_MAX)
        return false;
    table->function_count = (uint32_t)words[COUNT];
    return true;
}

static size_t entry_field_size(const struct pclntab *table)
{
    return table->version >= PCLNTAB_GO_1_18 ? sizeof(uint32_t) : WORD;
}

/* It is searched for when it is first needed: that reads all data of the object. */
static uint64_t module_of(struct pclntab *table)
{
    if (table->module == MODULE_UNKNOWN)
        table->module = go_module_find(&table->image, table->address, number_at(table->entries, 0));
    return table->module;
}

/* Whether the table at `address` is one: it has functions, and its first is code. */
static bool open_at(struct pclntab *table, uint64_t address, uint64_t size)
{
    size_t rest;
    const uint8_t *bytes = go_image_bytes(&table->image, address, &rest);
    if (!bytes || rest < HEAD_SIZE || !is_head(bytes, &table->version))
        return false;
    table->address = address;
    table->whole = (struct pclntab_part){bytes, rest < size ? rest : size};
    table->text = 0;
    if (!(table->version == PCLNTAB_GO_1_2 ? read_parts_1_2(table) : read_parts(table)) ||
        table->function_count == 0 ||
        table->entries.size / entry_field_size(table) < 2 * (uint64_t)table->function_count + 1)
        return false;
    table->module = MODULE_UNKNOWN;
    if (table->version >= PCLNTAB_GO_1_18 && table->text == 0)
        table->text = go_module_text(&table->image, module_of(table));
    struct pclntab_function first;
    uint64_t offset;
    bool code;
    return pclntab_function(table, 0, &first) &&
           image_file_offset(table->image.file, first.entry, &offset, &code) && code;
}

/* The linker of Go calls the section so, ld makes the second a part of .data.rel.ro. */
static const char *const sections[] = {".gopclntab", ".data.rel.ro.gopclntab"};

static bool find_by_section(struct pclntab *table, Elf *elf)
{
    GElf_Shdr header;
    for (size_t i = 0; i < sizeof sections / sizeof sections[0]; i++)
        if (elf_find_section(elf, sections[i], &header) &&
            open_at(table, header.sh_addr, header.sh_size))
            return true;
    return false;
}

/* Without section headers every object may be one of Go's. */
static bool may_be_go(Elf *elf)
{
    static const char *const others[] = {".go.buildinfo", ".note.go.buildid"};
    size_t section_count = 0;
    GElf_Shdr header;
    elf_getshdrnum(elf, &section_count);
    bool found = section_count == 0;
    for (size_t i = 0; i < sizeof sections / sizeof sections[0]; i++)
        found |= elf_find_section(elf, sections[i], &header) != NULL;
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        found |= elf_find_section(elf, others[i], &header) != NULL;
    return found;
}

/* Linkers align the table to 32 bytes. */
static bool find_by_magic(struct pclntab *table)
{
    enum { ALIGNMENT = 16, TRIES = 16 };
    const struct image_file *file = table->image.file;
    enum pclntab_version version;
    unsigned tries = 0;
    for (uint32_t i = 0; i < file->segment_count; i++) {
        const struct image_segment *segment = &file->segments[i];
        const uint8_t *bytes = file->view.bytes + segment->file_offset;
        for (uint64_t at = -segment->address % ALIGNMENT; at + HEAD_SIZE <= segment->file_size;
             at += ALIGNMENT) {
            if (!is_head(bytes + at, &version))
                continue;
            if (open_at(table, segment->address + at, UINT64_MAX))
                return true;
            if (++tries == TRIES)
                return false;
        }
    }
    return false;
}

struct pclntab *pclntab_open(Elf *elf, const struct image_file *file)
{
    if (!may_be_go(elf))
        return NULL;
    struct pclntab *table = memory_allocate_zeroed(sizeof *table);
    go_image_open(&table->image, elf, file);
    if (find_by_section(table, elf) || find_by_magic(table))
        return table;
    pclntab_close(table);
    return NULL;
}

void pclntab_close(struct pclntab *table)
{
    if (!table)
        return;
    go_image_close(&table->image);
    free(table);
}

/* ---- Functions ---- */

/* Field `index` of the list of entries and records. */
static uint64_t entry_field(const struct pclntab *table, uint64_t index)
{
    uint64_t value = 0;
    if (table->version >= PCLNTAB_GO_1_18)
        return number_at(table->entries, index * sizeof(uint32_t));
    uint64_t address = table->address + (uint64_t)(table->entries.bytes - table->whole.bytes);
    go_image_word(&table->image, address + index * WORD, &value);
    return value;
}

static uint64_t entry_of(const struct pclntab *table, uint32_t index)
{
    return table->text + entry_field(table, 2 * (uint64_t)index);
}

bool pclntab_function(const struct pclntab *table, uint32_t index,
                      struct pclntab_function *function)
{
    if (index >= table->function_count)
        return false;
    *function = (struct pclntab_function){
        .index = index,
        .entry = entry_of(table, index),
        .end = entry_of(table, index + 1),
        .record = part_from(table->records, entry_field(table, 2 * (uint64_t)index + 1)),
    };
    return function->entry < function->end && function->record.size > 0;
}

bool pclntab_find(const struct pclntab *table, uint64_t address, struct pclntab_function *function)
{
    uint32_t low = 0, high = table->function_count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (entry_of(table, middle) <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low > 0 && pclntab_function(table, low - 1, function) && address >= function->entry &&
           address < function->end;
}

/* Where the fields of four bytes begin that follow the entry. */
static size_t fields_start(const struct pclntab *table)
{
    return table->version >= PCLNTAB_GO_1_18 ? sizeof(uint32_t) : WORD;
}

uint32_t pclntab_field(const struct pclntab *table, const struct pclntab_function *function,
                       enum pclntab_field field)
{
    return number_at(function->record,
                     fields_start(table) + ((uint64_t)field - 1) * sizeof(uint32_t));
}

const char *pclntab_name_at(const struct pclntab *table, uint32_t offset)
{
    const char *name = text_at(table->names, offset);
    return name && *name ? name : NULL;
}

const char *pclntab_name(const struct pclntab *table, const struct pclntab_function *function)
{
    return pclntab_name_at(table, pclntab_field(table, function, PCLNTAB_NAME));
}

const char *pclntab_file(const struct pclntab *table, const struct pclntab_function *function,
                         int32_t number)
{
    const char *path = NULL;
    if (table->version == PCLNTAB_GO_1_2) {
        if (number > 0 && (uint32_t)number < number_at(table->files, 0))
            path =
                text_at(table->whole, number_at(table->files, (uint64_t)number * sizeof(uint32_t)));
    } else if (number >= 0) {
        uint64_t index = (uint64_t)pclntab_field(table, function, PCLNTAB_UNIT) + (uint32_t)number;
        uint64_t place = index * sizeof(uint32_t);
        if (place + sizeof(uint32_t) <= table->units.size)
            path = text_at(table->files, number_at(table->units, place));
    }
    return path && *path ? path : NULL;
}

/* Starts of the named symbols, ascending. */
static struct array named_starts(const struct array *symbols)
{
    struct array starts = array_of(sizeof(struct numbered));
    array_reserve(&starts, symbols->count);
    for (size_t i = 0; i < symbols->count; i++) {
        const struct code_symbol *symbol = array_at(symbols, i);
        if (symbol->kind >= CODE_LABEL)
            *(struct numbered *)array_add(&starts) = (struct numbered){symbol->start, i};
    }
    if (starts.count > 0)
        number_order(starts.elements, starts.count);
    return starts;
}

/* As the linker writes a name into a symbol table: with "." for a middle dot. */
static const char *as_symbol(const char *name, struct arena *names)
{
    static const char dot[] = "\xc2\xb7";
    const char *from = strstr(name, dot);
    if (!from)
        return name;
    char *copy = arena_copy_string(names, name), *to = copy + (from - name);
    while (*from) {
        bool is_dot = strncmp(from, dot, strlen(dot)) == 0;
        *to++ = is_dot ? '.' : *from;
        from += is_dot ? strlen(dot) : 1;
    }
    *to = 0;
    return copy;
}

static void add_symbol(const struct pclntab *table, const struct pclntab_function *function,
                       struct arena *names, struct array *symbols)
{
    const char *name = pclntab_name(table, function);
    const struct image_segment *code = image_file_segment(table->image.file, function->entry);
    if (!name || !code || !code->executable)
        return;
    uint64_t limit = code->address + code->memory_size;
    uint64_t end = function->end < limit ? function->end : limit;
    *(struct code_symbol *)array_add(symbols) = (struct code_symbol){
        .name = as_symbol(name, names),
        .start = function->entry,
        .end = end,
        .limit = end,
        .kind = CODE_FUNCTION,
        .binding = CODE_GLOBAL,
    };
}

void pclntab_add_symbols(const struct pclntab *table, struct arena *names, struct array *symbols)
{
    struct array starts = named_starts(symbols);
    const struct numbered *start = starts.elements;
    size_t next = 0;
    struct pclntab_function function;
    for (uint32_t i = 0; i < table->function_count; i++) {
        if (!pclntab_function(table, i, &function))
            continue;
        while (next < starts.count && start[next].number < function.entry)
            next++;
        if (next == starts.count || start[next].number != function.entry)
            add_symbol(table, &function, names, symbols);
    }
    array_free(&starts);
}

/* ---- Values and data of a function ---- */

/* Where the tables of values begin in a record: after the fields, and four bytes of kinds. */
static size_t tables_start(const struct pclntab *table)
{
    static const uint8_t fields[] = {
        [PCLNTAB_GO_1_2] = 7, [PCLNTAB_GO_1_16] = 8, [PCLNTAB_GO_1_18] = 8, [PCLNTAB_GO_1_20] = 9};
    return fields_start(table) + ((size_t)fields[table->version] + 1) * sizeof(uint32_t);
}

uint32_t pclntab_value_table(const struct pclntab *table, const struct pclntab_function *function,
                             uint32_t index)
{
    if (index >= pclntab_field(table, function, PCLNTAB_VALUE_TABLES))
        return 0;
    return number_at(function->record, tables_start(table) + (uint64_t)index * sizeof(uint32_t));
}

/* Up to Go 1.17 the record has pointers, aligned as such. */
static uint64_t data_pointer(const struct pclntab *table, uint64_t offset, uint32_t index)
{
    uint64_t value = 0;
    uint64_t aligned = (offset + WORD - 1) / WORD * WORD;
    go_image_word(&table->image, table->address + aligned + (uint64_t)index * WORD, &value);
    return value;
}

uint64_t pclntab_function_data(struct pclntab *table, const struct pclntab_function *function,
                               uint32_t index)
{
    size_t kinds_end = tables_start(table);
    if (function->record.size < kinds_end || index >= function->record.bytes[kinds_end - 1])
        return 0;
    uint64_t offset = kinds_end + (uint64_t)sizeof(uint32_t) *
                                      pclntab_field(table, function, PCLNTAB_VALUE_TABLES);
    if (table->version < PCLNTAB_GO_1_18)
        return data_pointer(table, (uint64_t)(function->record.bytes - table->whole.bytes) + offset,
                            index);
    uint64_t place = offset + (uint64_t)index * sizeof(uint32_t);
    uint32_t distance = number_at(function->record, place);
    uint64_t data =
        go_module_function_data(&table->image, module_of(table), table->version >= PCLNTAB_GO_1_20);
    bool missing = distance == UINT32_MAX || place + sizeof(uint32_t) > function->record.size;
    return missing || data == 0 ? 0 : data + distance;
}

struct pclntab_values pclntab_values(const struct pclntab *table,
                                     const struct pclntab_function *function, uint32_t offset)
{
    struct pclntab_values values = {
        .end = function->end,
        .address = function->entry,
        .value = -1,
    };
    if (offset != 0)
        values.rest = part_from(table->values, offset);
    if (values.rest.size > 2 * VARINT_LONGEST * VALUES_MOST)
        values.rest.size = 2 * VARINT_LONGEST * VALUES_MOST;
    return values;
}

static bool take_varint(struct pclntab_part *part, uint32_t *value)
{
    *value = 0;
    for (unsigned i = 0; i < VARINT_LONGEST && i < part->size; i++) {
        *value |= (uint32_t)(part->bytes[i] & 0x7f) << (7 * i);
        if (!(part->bytes[i] & 0x80)) {
            *part = part_from(*part, i + 1);
            return true;
        }
    }
    return false;
}

bool pclntab_values_next(struct pclntab_values *values, struct pclntab_value *value)
{
    uint32_t change, length;
    if (values->address >= values->end || !take_varint(&values->rest, &change) ||
        (change == 0 && values->started) || !take_varint(&values->rest, &length))
        return false;
    uint32_t difference = change & 1 ? ~(change >> 1) : change >> 1;
    values->value = (int32_t)((uint32_t)values->value + difference);
    values->started = true;
    uint64_t left = values->end - values->address;
    *value = (struct pclntab_value){.start = values->address, .value = values->value};
    values->address += length < left ? length : left;
    value->end = values->address;
    return true;
}
