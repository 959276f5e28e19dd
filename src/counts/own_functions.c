#include "counts/own_functions.h"

static void add_range(const struct code_counts *counts, const struct image_file *file,
                      const struct function_bounds *bounds, struct array *found)
{
    const struct function *function = symbols_function(counts->symbols, bounds->function);
    uint64_t address;
    if (!function->symbol || !image_file_address(file, bounds->start, &address))
        return;
    *(struct own_function *)array_add(found) = (struct own_function){
        .start = {file, bounds->start},
        .end = bounds->end < file->view.size ? bounds->end : file->view.size,
        .function = bounds->function,
        .begins = address == function->start,
    };
}

static void add_segment(const struct code_counts *counts, const struct image_file *file,
                        const struct image_segment *segment, struct array *found)
{
    uint64_t at = segment->file_offset, end = at + segment->file_size;
    while (at < end) {
        struct code_place_key place = {file, at};
        struct function_bounds bounds = code_counts_function(counts, &place);
        add_range(counts, file, &bounds, found);
        at = bounds.end > at ? bounds.end : at + 1;
    }
}

static bool is_own(const struct code_counts *counts, const struct code_place_key *place)
{
    function_id id = code_counts_function(counts, place).function;
    return symbols_function(counts->symbols, id)->owner == CODE_OF_PROGRAM;
}

struct array own_functions_find(const struct code_counts *counts)
{
    struct array found = array_of(sizeof(struct own_function));
    const struct array *all = &counts->instructions;
    for (size_t i = 0; i < all->count;) {
        const struct instruction_count *at = array_at(all, i);
        const struct image_file *file = at->at.file;
        bool own = file->segment_count > 0 && is_own(counts, &at->at);
        for (uint32_t j = 0; own && j < file->segment_count; j++)
            if (file->segments[j].executable)
                add_segment(counts, file, &file->segments[j], &found);
        struct code_place_key end = {file, UINT64_MAX};
        i = own ? code_counts_first(all, &end) : i + 1;
    }
    return found;
}

bool own_functions_decode(const struct image_file *file, uint64_t offset,
                          struct x86_instruction *decoded)
{
    return offset < file->view.size && x86_decode(decoded, file->view.bytes + offset,
                                                  file->view.size - offset, offset, X86_MODE_64);
}
