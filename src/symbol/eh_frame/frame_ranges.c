#include "symbol/eh_frame/frame_ranges.h"

#include "symbol/code_symbol.h"
#include "symbol/eh_frame/frame_entries.h"

void frame_ranges_add(const struct array *entries, struct array *symbols)
{
    array_reserve(symbols, entries->count);
    for (size_t i = 0; i < entries->count; i++) {
        const struct frame_entry *entry = array_at(entries, i);
        *(struct code_symbol *)array_add(symbols) = (struct code_symbol){
            .start = entry->start,
            .end = entry->end,
            .limit = entry->end,
            .kind = CODE_FRAME,
        };
    }
}
