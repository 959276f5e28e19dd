#include "symbol/go/go_module.h"

#include <string.h>

/* Words of a moduledata; each list in it has three: address, length, capacity. */
enum {
    WORD = 8,
    MINPC = 20, /* the first function */
    TEXT = 22,  /* what entries are relative to */
    FUNCTION_DATA_1_18 = 38,
    FUNCTION_DATA_1_20 = 40, /* after two words of coverage counters */
};

static bool word_at(const struct go_image *image, uint64_t module, unsigned index, uint64_t *value)
{
    return go_image_word(image, module + (uint64_t)index * WORD, value);
}

static bool is_module(const struct go_image *image, const struct go_module_table *table,
                      uint64_t address)
{
    uint64_t header, first, text;
    return word_at(image, address, 0, &header) && header == table->address &&
           word_at(image, address, MINPC, &first) && word_at(image, address, TEXT, &text) &&
           first == text + table->first_entry && text != 0;
}

static uint64_t find_by_relocations(const struct go_image *image,
                                    const struct go_module_table *table)
{
    for (size_t i = 0; i < image->relocations.count; i++) {
        const struct go_relocation *relocation = array_at(&image->relocations, i);
        if (relocation->value == table->address && is_module(image, table, relocation->address))
            return relocation->address;
    }
    return 0;
}

static uint64_t find_in_segment(const struct go_image *image, const struct go_module_table *table,
                                const struct image_segment *segment)
{
    const uint8_t *bytes = image->file->view.bytes + segment->file_offset;
    for (uint64_t at = -segment->address % WORD; at + WORD <= segment->file_size; at += WORD)
        if (memcmp(bytes + at, &table->address, WORD) == 0 &&
            is_module(image, table, segment->address + at))
            return segment->address + at;
    return 0;
}

/* Data comes last in a file. */
static uint64_t find_module(const struct go_image *image, const struct go_module_table *table)
{
    const struct image_file *file = image->file;
    uint64_t found = find_by_relocations(image, table);
    for (uint32_t i = file->segment_count; found == 0 && i-- > 0;)
        if (!file->segments[i].executable)
            found = find_in_segment(image, table, &file->segments[i]);
    return found;
}

static uint64_t word_of_module(const struct go_image *image, const struct go_module_table *table,
                               unsigned index)
{
    uint64_t module = find_module(image, table), value = 0;
    if (module != 0)
        word_at(image, module, index, &value);
    return value;
}

uint64_t go_module_text(const struct go_image *image, const struct go_module_table *table)
{
    return word_of_module(image, table, TEXT);
}

uint64_t go_module_function_data(const struct go_image *image, const struct go_module_table *table)
{
    return word_of_module(image, table,
                          table->since_1_20 ? FUNCTION_DATA_1_20 : FUNCTION_DATA_1_18);
}
