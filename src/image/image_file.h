/* A file whose bytes were executed: an ELF object, a dumped JIT page, the vDSO.
 *
 * Looked for first in the recording's own images/ folder, then at the recorded path. A file that is
 * missing or has changed since (another inode and build id) is reported once and by name; code in
 * it cannot be decoded.
 */
#ifndef MAGIC_TRACE_IMAGE_IMAGE_FILE_H
#define MAGIC_TRACE_IMAGE_IMAGE_FILE_H

#include "base/file.h"

#include <stdbool.h>
#include <stdint.h>

struct image_segment {
    uint64_t address; /* p_vaddr */
    uint64_t file_offset;
    uint64_t file_size;
    uint64_t memory_size;
    bool executable;
};

struct image_file {
    uint32_t id;            /* index in its address_spaces */
    const char *path;       /* as recorded */
    const char *local_path; /* where its bytes are now; NULL when missing */
    struct file_view view;  /* empty when missing */
    bool elf;               /* a valid ELF64 x86-64 object; segments are filled */
    bool jit;               /* dumped by the soft engine from memory: has no symbols of its own */
    struct image_segment *segments; /* PT_LOAD, by address */
    uint32_t segment_count;
};

/* The object's own address (p_vaddr based) of the byte at `file_offset`; false when no segment
 * holds it. */
bool image_file_address(const struct image_file *file, uint64_t file_offset, uint64_t *address);

#endif
