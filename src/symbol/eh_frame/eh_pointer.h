/* Reads the tables of unwinders: .eh_frame and .gcc_except_table.
 *
 * Numbers in them are LEB128, addresses are encoded as one of DW_EH_PE_*: a format, and what the
 * value is relative to. Used by frame_entries.c and landing_pads.c. Never reads beyond `end`; after
 * a failure everything reads as 0.
 *
 * Source: LSB Core 5.0, 10.5 "DWARF Extensions"; where it is silent, libgcc's unwind-pe.h.
 */
#ifndef MAGIC_TRACE_SYMBOL_EH_POINTER_H
#define MAGIC_TRACE_SYMBOL_EH_POINTER_H

#include <stdbool.h>
#include <stdint.h>

struct eh_reader {
    const uint8_t *start; /* borrowed; lies at `address` of the object */
    const uint8_t *next, *end;
    uint64_t address;
    bool failed; /* the data ended too early, or an encoding is unknown */
};

/* What values can be relative to, as addresses of the object; 0 unknown. */
struct eh_bases {
    uint64_t text, data, function;
};

uint8_t eh_read_byte(struct eh_reader *reader);
uint64_t eh_read_unsigned(struct eh_reader *reader); /* ULEB128 */

/* An address of the object; 0 for a null pointer, and for DW_EH_PE_omit, which takes no bytes. Of
 * an indirect one (DW_EH_PE_indirect): the address where the address lies. */
uint64_t eh_read_pointer(struct eh_reader *reader, uint8_t encoding, const struct eh_bases *bases);

/* The value without its base: for lengths, and offsets of call sites. */
uint64_t eh_read_value(struct eh_reader *reader, uint8_t encoding);

#endif
