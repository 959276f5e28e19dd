#include "symbol/dwarf/inlined_entry.h"

#include <dwarf.h>

/* dwarf_entrypc of libdw 0.188 reads neither offsets nor, without the attribute, ranges. */
static uint64_t read_entry(Dwarf_Die *entry, uint64_t first_range)
{
    Dwarf_Attribute attribute;
    Dwarf_Addr address;
    Dwarf_Word offset;
    if (!dwarf_attr(entry, DW_AT_entry_pc, &attribute))
        return first_range;
    if (dwarf_formaddr(&attribute, &address) == 0)
        return address;
    Dwarf_Addr low;
    if (dwarf_formudata(&attribute, &offset) == 0)
        return (dwarf_lowpc(entry, &low) == 0 ? low : first_range) + offset;
    return first_range;
}

/* Compilers may move an instruction of the caller to the very entry: then the call begins with the
 * first of its own code after that. Without such a part, it is the part of its code that is closest before the entry: others
 * were moved out of a loop, for example. */
static uint64_t own_entry(const struct ranked_range *ranges, size_t count, uint64_t entry)
{
    uint64_t after = UINT64_MAX, before = 0;
    for (size_t i = 0; i < count; i++) {
        if (entry >= ranges[i].start && entry < ranges[i].end)
            return entry;
        if (ranges[i].start > entry && ranges[i].start < after)
            after = ranges[i].start;
        if (ranges[i].start < entry && ranges[i].start > before)
            before = ranges[i].start;
    }
    return after < UINT64_MAX ? after : before;
}

uint64_t inlined_entry_read(Dwarf_Die *call, const struct ranked_range *ranges, size_t count,
                            uint64_t bias)
{
    return own_entry(ranges, count, read_entry(call, ranges->start + bias) - bias);
}
