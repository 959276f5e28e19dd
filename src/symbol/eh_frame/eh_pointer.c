#include "symbol/eh_frame/eh_pointer.h"

#include <dwarf.h>
#include <stddef.h>
#include <string.h>

enum { FORMAT = 0x0f, RELATIVE_TO = 0x70 };

static bool take(struct eh_reader *reader, void *value, size_t size)
{
    if (reader->failed || (size_t)(reader->end - reader->next) < size) {
        reader->failed = true;
        return false;
    }
    memcpy(value, reader->next, size);
    reader->next += size;
    return true;
}

uint8_t eh_read_byte(struct eh_reader *reader)
{
    uint8_t byte;
    return take(reader, &byte, sizeof byte) ? byte : 0;
}

/* *bits: how many the encoding has. */
static uint64_t read_leb128(struct eh_reader *reader, unsigned *bits, bool *negative)
{
    uint64_t value = 0;
    uint8_t byte;
    *bits = 0;
    do {
        byte = eh_read_byte(reader);
        if (*bits < 64)
            value |= (uint64_t)(byte & 0x7f) << *bits;
        *bits += 7;
    } while (byte & 0x80);
    *negative = byte & 0x40;
    return value;
}

uint64_t eh_read_unsigned(struct eh_reader *reader)
{
    unsigned bits;
    bool negative;
    return read_leb128(reader, &bits, &negative);
}

static uint64_t read_signed(struct eh_reader *reader)
{
    unsigned bits;
    bool negative;
    uint64_t value = read_leb128(reader, &bits, &negative);
    return negative && bits < 64 ? value | ~(uint64_t)0 << bits : value;
}

uint64_t eh_read_value(struct eh_reader *reader, uint8_t encoding)
{
    uint16_t half = 0;
    uint32_t word = 0;
    uint64_t whole = 0;
    switch (encoding & FORMAT) {
    case DW_EH_PE_uleb128:
        return eh_read_unsigned(reader);
    case DW_EH_PE_sleb128:
        return read_signed(reader);
    case DW_EH_PE_udata2:
        take(reader, &half, sizeof half);
        return half;
    case DW_EH_PE_sdata2:
        take(reader, &half, sizeof half);
        return (uint64_t)(int64_t)(int16_t)half;
    case DW_EH_PE_udata4:
        take(reader, &word, sizeof word);
        return word;
    case DW_EH_PE_sdata4:
        take(reader, &word, sizeof word);
        return (uint64_t)(int64_t)(int32_t)word;
    case DW_EH_PE_absptr:
    case DW_EH_PE_signed:
    case DW_EH_PE_udata8:
    case DW_EH_PE_sdata8:
        take(reader, &whole, sizeof whole);
        return whole;
    default:
        reader->failed = true;
        return 0;
    }
}

static uint64_t address_of(const struct eh_reader *reader)
{
    return reader->address + (uint64_t)(reader->next - reader->start);
}

static void align(struct eh_reader *reader)
{
    uint64_t skip = -address_of(reader) % sizeof(uint64_t);
    if (skip > (uint64_t)(reader->end - reader->next))
        reader->failed = true;
    else
        reader->next += skip;
}

uint64_t eh_read_pointer(struct eh_reader *reader, uint8_t encoding, const struct eh_bases *bases)
{
    if (encoding == DW_EH_PE_omit)
        return 0;
    if ((encoding & RELATIVE_TO) == DW_EH_PE_aligned)
        align(reader);
    uint64_t here = address_of(reader);
    uint64_t value = eh_read_value(reader, encoding);
    if (value == 0 || reader->failed)
        return 0;
    switch (encoding & RELATIVE_TO) {
    case DW_EH_PE_absptr:
    case DW_EH_PE_aligned:
        return value;
    case DW_EH_PE_pcrel:
        return value + here;
    case DW_EH_PE_textrel:
        return value + bases->text;
    case DW_EH_PE_datarel:
        return value + bases->data;
    case DW_EH_PE_funcrel:
        return value + bases->function;
    default:
        reader->failed = true;
        return 0;
    }
}
