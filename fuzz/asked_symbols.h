/* Asks for functions, names, lines and inlined functions all over a mapped object: what elf_fuzz.c and dwarf_fuzz.c do. */
#ifndef MAGIC_TRACE_FUZZ_ASKED_SYMBOLS_H
#define MAGIC_TRACE_FUZZ_ASKED_SYMBOLS_H

#include "mapped_object.h"
#include "symbol/symbols.h"

#include <stdint.h>
#include <stdlib.h>

enum { ASKED_STEP = 64 };

static inline void ask_inlined(struct symbols *symbols, const struct mapping *mapping,
                               uint64_t address)
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

/* Every answer must hold the address it was asked about. */
static inline void ask_symbols(const struct mapped_object *object)
{
    struct symbols *symbols = symbols_open(&object->spaces, NULL);
    symbols_find_inlined(symbols);
    struct address_space_cursor cursor = mapped_object_cursor(object);
    for (uint64_t address = OBJECT_START; address < OBJECT_START + OBJECT_LENGTH;
         address += ASKED_STEP) {
        const struct mapping *mapping = address_space_find(&cursor, address);
        struct function_bounds bounds = symbols_find(symbols, mapping, address);
        if (address < bounds.start || address >= bounds.end || bounds.start < OBJECT_START ||
            bounds.end > OBJECT_START + OBJECT_LENGTH ||
            !symbols_function(symbols, bounds.function)->name)
            abort();
        symbols_line(symbols, bounds.function);
        if (bounds.inlined)
            ask_inlined(symbols, mapping, address);
    }
    address_space_cursor_free(&cursor);
    symbols_close(symbols);
}

#endif
