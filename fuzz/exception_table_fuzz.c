/* Fuzz target: any bytes as an exception table (LSDA). Where an exception goes on is code of the object, or
 * nowhere. */
#include "symbol/eh_frame/landing_pads.h"

#include "symbol/eh_frame/frame_entries.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

enum { CODE = 0x10000, CODE_SIZE = 0x100, TABLE = 0x20000 };

static void ask(const struct landing_pads *pads)
{
    for (uint64_t address = CODE; address <= CODE + CODE_SIZE; address++) {
        uint64_t pad = landing_pads_find(pads, address);
        if (pad != 0 && (pad < CODE || pad >= CODE + CODE_SIZE))
            abort();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    struct image_segment segments[] = {
        {.address = CODE,
         .file_size = CODE_SIZE,
         .memory_size = CODE_SIZE,
         .file_offset = 0x100000,
         .executable = true},
        {.address = TABLE, .file_size = size, .memory_size = size},
    };
    struct image_file file = {.view = {.bytes = bytes, .size = size},
                              .elf = true,
                              .segments = segments,
                              .segment_count = 2};
    struct frame_entry entry = {CODE, CODE + CODE_SIZE, TABLE};
    struct array entries = array_of(sizeof entry);
    array_add_all(&entries, &entry, 1);
    struct landing_pads pads;
    landing_pads_init(&pads, &file, &entries);
    ask(&pads);
    landing_pads_free(&pads);
    array_free(&entries);
    return 0;
}
