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

/* What distinguishes the moduledata that is searched for. */
struct sought {
    uint64_t table;
    uint32_t first_entry;
};

static bool is_module(const struct go_image *image, const struct sought *sought, uint64_t address)
{
    uint64_t header, first, text;
    return word_at(image, address, 0, &header) && header == sought->table &&
           word_at(image, address, MINPC, &first) && word_at(image, address, TEXT, &text) &&
           first == text + sought->first_entry && text != 0;
}

static uint64_t find_by_relocations(const struct go_image *image, const struct sought *sought)
{
    for (size_t i = 0; i < image->relocations.count; i++) {
        const struct go_relocation *relocation = array_at(&image->relocations, i);
        if (relocation->value == sought->table && is_module(image, sought, relocation->address))
            return relocation->address;
    }
    return 0;
}

static uint64_t find_in_segment(const struct go_image *image, const struct sought *sought,
                                const struct image_segment *segment)
{
    const uint8_t *bytes = image->file->view.bytes + segment->file_offset;
    for (uint64_t at = -segment->address % WORD; at + WORD <= segment->file_size; at += WORD)
        if (memcmp(bytes + at, &sought->table, WORD) == 0 &&
            is_module(image, sought, segment->address + at))
            return segment->address + at;
    return 0;
}

/* Data comes last in a file. */
uint64_t go_module_find(const struct go_image *image, uint64_t table, uint32_t first_entry)
{
    const struct image_file *file = image->file;
    const struct sought sought = {table, first_entry};
    uint64_t found = find_by_relocations(image, &sought);
    for (uint32_t i = file->segment_count; found == 0 && i-- > 0;)
        if (!file->segments[i].executable)
            found = find_in_segment(image, &sought, &file->segments[i]);
    return found;
}

static uint64_t word_of_module(const struct go_image *image, uint64_t module, unsigned index)
{
    uint64_t value = 0;
    if (module != 0)
        word_at(image, module, index, &value);
    return value;
}

uint64_t go_module_text(const struct go_image *image, uint64_t module)
{
    return word_of_module(image, module, TEXT);
}

uint64_t go_module_function_data(const struct go_image *image, uint64_t module, bool since_1_20)
{
    return word_of_module(image, module, since_1_20 ? FUNCTION_DATA_1_20 : FUNCTION_DATA_1_18);
}
