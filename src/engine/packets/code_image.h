/* Code as it was in memory, as a small ELF file that perf, debuggers and magic-trace can read.
 *
 * The code lies from file offset CODE_IMAGE_OFFSET on, in one part or several, perhaps of the same
 * address at different times; mappings say which. CODE_IMAGE_TAIL more bytes follow each part,
 * because decoders read an instruction that crosses the end of a mapping from the same file.
 *
 * Called by the qemu plugin, inside the traced program, and by the translator's recorder.
 */
#ifndef MAGIC_TRACE_ENGINE_PACKETS_CODE_IMAGE_H
#define MAGIC_TRACE_ENGINE_PACKETS_CODE_IMAGE_H

#include <elf.h>
#include <stdbool.h>
#include <stdint.h>

enum { CODE_IMAGE_OFFSET = 4096, CODE_IMAGE_TAIL = 16, CODE_IMAGE_PARTS = 64 };

/* What stands before the code in the file. */
struct code_image {
    Elf64_Ehdr header;
    Elf64_Phdr parts[CODE_IMAGE_PARTS];
    Elf64_Shdr sections[3];
    char names[CODE_IMAGE_OFFSET - sizeof(Elf64_Ehdr) - CODE_IMAGE_PARTS * sizeof(Elf64_Phdr) -
               3 * sizeof(Elf64_Shdr)];
};

_Static_assert(sizeof(struct code_image) == CODE_IMAGE_OFFSET, "mappings name this offset");

/* Without parts. */
void code_image_begin(struct code_image *image);

/* `size` bytes, the tail included, that run at `address`. False: it has CODE_IMAGE_PARTS parts. */
bool code_image_add(struct code_image *image, uint64_t file_offset, uint64_t address,
                    uint64_t size);

#endif
