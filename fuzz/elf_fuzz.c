/* Fuzz target: any bytes as an object file that was mapped as code. Its functions, names and lines
 * are asked for all over the mapping; every answer must hold the address it was asked about. */
#include "base/memory.h"
#include "image/address_space.h"
#include "symbol/symbols.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

enum { START = 0x10000000, LENGTH = 0x10000, STEP = 64, PID = 1 };

static void ask_inlined(struct symbols *symbols, const struct mapping *mapping, uint64_t address)
{
    struct inlined_place place = symbols_inlined_at(symbols, mapping, address);
    if (address < place.start || address >= place.end)
        abort();
    const struct inlined *inlined = symbols_inlined(symbols, place.inlined);
    for (uint32_t depth = inlined->depth; depth > 0; depth--) {
        if (inlined->depth != depth || !symbols_function(symbols, inlined->function)->name)
            abort();
        symbols_line(symbols, inlined->function);
        inlined = symbols_inlined(symbols, inlined->outer);
    }
}

static void ask(const struct address_spaces *spaces, struct symbols *symbols)
{
    struct address_space_cursor cursor;
    address_space_cursor_init(&cursor, address_spaces_process(spaces, PID));
    address_space_cursor_advance(&cursor, (struct ticks){0});
    for (uint64_t address = START; address < START + LENGTH; address += STEP) {
        const struct mapping *mapping = address_space_find(&cursor, address);
        struct function_bounds bounds = symbols_find(symbols, mapping, address);
        if (address < bounds.start || address >= bounds.end || bounds.start < START ||
            bounds.end > START + LENGTH || !symbols_function(symbols, bounds.function)->name)
            abort();
        symbols_line(symbols, bounds.function);
        if (bounds.inlined)
            ask_inlined(symbols, mapping, address);
    }
    address_space_cursor_free(&cursor);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    int file = memfd_create("object", MFD_CLOEXEC);
    if (file < 0 || write(file, bytes, size) != (ssize_t)size)
        abort();
    char *path = memory_format("/proc/self/fd/%d", file);
    struct sideband_record record = {
        .kind = SIDEBAND_MAPPING,
        .pid = PID,
        .tid = PID,
        .mapping = {.start = START, .length = LENGTH, .executable = true, .path = path},
    };
    struct perf_data data = {.records = &record, .record_count = 1};
    struct address_spaces spaces;
    if (!address_spaces_build(&spaces, &data, NULL, NULL))
        abort();
    struct symbols *symbols = symbols_open(&spaces, NULL);
    symbols_find_inlined(symbols);
    ask(&spaces, symbols);
    symbols_close(symbols);
    address_spaces_free(&spaces);
    free(path);
    close(file);
    return 0;
}
