/* The bytes and words of an object at its own addresses, with what the dynamic loader adds to them.
 *
 * Used by pclntab.c. Tables of a position-independent Go program hold pointers; the linker may leave
 * them zero in the file and give their values as relocations (R_X86_64_RELATIVE).
 *
 * Source: System V gABI, "Dynamic Section"; x86-64 psABI, "Relocation Types".
 */
#ifndef MAGIC_TRACE_SYMBOL_GO_IMAGE_H
#define MAGIC_TRACE_SYMBOL_GO_IMAGE_H

#include "base/array.h"
#include "image/image_file.h"

#include <libelf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct go_relocation {
    uint64_t address; /* of the word */
    uint64_t value;
};

struct go_image {
    const struct image_file *file; /* borrowed */
    struct array relocations;      /* struct go_relocation, by address */
};

/* `elf` is that of `file`. What is damaged is left out. */
void go_image_open(struct go_image *image, Elf *elf, const struct image_file *file);
void go_image_close(struct go_image *image);

/* The bytes from `address` to the end of what the file has of its segment; NULL: none. */
const uint8_t *go_image_bytes(const struct go_image *image, uint64_t address, size_t *size);

/* The word of eight bytes at `address`; false: the file does not have it. */
bool go_image_word(const struct go_image *image, uint64_t address, uint64_t *value);

#endif
