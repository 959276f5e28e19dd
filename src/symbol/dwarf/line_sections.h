/* The debug information that source lines need, of a file in which it is compressed.
 *
 * Used by source_lines.c. libdw decompresses every debug section of a file as soon as it is opened,
 * by zlib. Here the sections that lines need, and no others, are decompressed by isa-l, which is
 * several times as fast, into an ELF file in memory that libdw then reads.
 */
#ifndef MAGIC_TRACE_SYMBOL_LINE_SECTIONS_H
#define MAGIC_TRACE_SYMBOL_LINE_SECTIONS_H

#include <elfutils/libdw.h>
#include <stdint.h>

struct line_sections {
    uint8_t *image; /* the file in memory; owned */
    Elf *elf;       /* reads the image; owned */
    Dwarf *debug;   /* likewise; NULL: this file is one for libdw alone */
};

/* Sets debug == NULL, which leaves the object to libdw, unless its sections are compressed by zlib,
 * need no relocation, do not refer to another file (.gnu_debugaltlink) and are undamaged. `elf` is
 * borrowed until this returns. */
void line_sections_open(struct line_sections *sections, Elf *elf);
void line_sections_close(struct line_sections *sections);

#endif
