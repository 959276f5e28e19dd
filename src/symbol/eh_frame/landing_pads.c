#include "symbol/eh_frame/landing_pads.h"

#include "symbol/eh_frame/eh_pointer.h"
#include "symbol/eh_frame/frame_entries.h"

#include <dwarf.h>
#include <stdlib.h>

static int compare_starts(const void *left, const void *right)
{
    uint64_t a = ((const struct frame_entry *)left)->start;
    uint64_t b = ((const struct frame_entry *)right)->start;
    return (a > b) - (a < b);
}

void landing_pads_init(struct landing_pads *pads, const struct image_file *file,
                       const struct array *entries)
{
    *pads = (struct landing_pads){.file = file, .functions = array_of(sizeof(struct frame_entry))};
    for (size_t i = 0; i < entries->count; i++) {
        const struct frame_entry *entry = array_at(entries, i);
        if (entry->exception_table)
            array_add_all(&pads->functions, entry, 1);
    }
    if (pads->functions.count)
        qsort(pads->functions.elements, pads->functions.count, sizeof(struct frame_entry),
              compare_starts);
}

void landing_pads_free(struct landing_pads *pads)
{
    array_free(&pads->functions);
}

/* The function, or part of one, that holds `address`. */
static const struct frame_entry *find_function(const struct landing_pads *pads, uint64_t address)
{
    size_t first = 0, last = pads->functions.count;
    while (first < last) {
        size_t middle = first + (last - first) / 2;
        if (((const struct frame_entry *)array_at(&pads->functions, middle))->start <= address)
            first = middle + 1;
        else
            last = middle;
    }
    const struct frame_entry *found = first ? array_at(&pads->functions, first - 1) : NULL;
    return found && address < found->end ? found : NULL;
}

/* At the exception table of `function`; it has to end within the file. */
static bool open_table(const struct landing_pads *pads, const struct frame_entry *function,
                       struct eh_reader *reader)
{
    uint64_t offset;
    if (!image_file_offset(pads->file, function->exception_table, &offset, NULL) ||
        offset >= pads->file->view.size)
        return false;
    const uint8_t *bytes = pads->file->view.bytes;
    *reader = (struct eh_reader){.start = bytes + offset,
                                 .next = bytes + offset,
                                 .end = bytes + pads->file->view.size,
                                 .address = function->exception_table};
    return true;
}

/* The header: afterwards the reader spans the call sites. Returns what landing pads are relative
 * to; *encoding is that of the call sites. */
static uint64_t read_header(struct eh_reader *reader, const struct frame_entry *function,
                            uint8_t *encoding)
{
    struct eh_bases bases = {.function = function->start};
    uint64_t base = function->start;
    uint8_t base_encoding = eh_read_byte(reader);
    if (base_encoding != DW_EH_PE_omit)
        base = eh_read_pointer(reader, base_encoding, &bases);
    if (eh_read_byte(reader) != DW_EH_PE_omit)
        eh_read_unsigned(reader); /* where the types are that are caught */
    *encoding = eh_read_byte(reader);
    uint64_t size = eh_read_unsigned(reader);
    if (size > (uint64_t)(reader->end - reader->next))
        reader->failed = true;
    else
        reader->end = reader->next + size;
    return base;
}

static bool is_code(const struct landing_pads *pads, uint64_t address)
{
    uint64_t offset;
    bool executable;
    return image_file_offset(pads->file, address, &offset, &executable) && executable;
}

uint64_t landing_pads_find(const struct landing_pads *pads, uint64_t return_address)
{
    /* The call may be the last instruction of its range, or of the function. */
    uint64_t address = return_address - 1;
    const struct frame_entry *function = find_function(pads, address);
    struct eh_reader reader;
    if (!function || !open_table(pads, function, &reader))
        return 0;
    uint8_t encoding;
    uint64_t base = read_header(&reader, function, &encoding);
    uint64_t wanted = address - function->start;
    while (!reader.failed && reader.next < reader.end) {
        uint64_t start = eh_read_value(&reader, encoding);
        uint64_t length = eh_read_value(&reader, encoding);
        uint64_t pad = eh_read_value(&reader, encoding);
        eh_read_unsigned(&reader); /* what is done there: catching what, or cleaning up */
        if (reader.failed || wanted < start)
            break; /* ranges ascend */
        if (wanted - start < length)
            return pad && is_code(pads, base + pad) ? base + pad : 0;
    }
    return 0;
}
