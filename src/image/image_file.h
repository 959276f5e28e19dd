/* A file whose bytes were executed: an ELF object, a dumped JIT page, the vDSO.
 *
 * Made by file_table.c, read-only and shared by all threads afterwards; decode/ reads code
 * from `view`, symbol/ reads symbols from `local_path`. Where the bytes are looked for:
 * image_search.h. A file that is missing or has been replaced since the recording is reported once
 * and by name.
 *
 * ELF facts: System V gABI chapter 5 (program header), x86-64 psABI.
 */
#ifndef MAGIC_TRACE_IMAGE_IMAGE_FILE_H
#define MAGIC_TRACE_IMAGE_IMAGE_FILE_H

#include "base/arena.h"
#include "base/file.h"
#include "image/build_id.h"

#include <stdbool.h>
#include <stdint.h>

struct image_segment {
    uint64_t address; /* p_vaddr */
    uint64_t file_offset;
    uint64_t file_size; /* never beyond the end of the file, nor beyond memory_size */
    uint64_t memory_size;
    bool executable;
};

struct image_symbol {
    const char *name;
    uint64_t start;
    uint64_t size; /* 0: up to the next */
};

struct image_file {
    uint32_t id;              /* index in its address_spaces */
    const char *path;         /* as recorded */
    const char *local_path;   /* where its bytes are now; NULL when missing */
    struct file_view view;    /* empty when missing */
    int memory;               /* the descriptor of the file in memory at local_path; 0: none */
    bool elf;                 /* a valid ELF64 x86-64 object; segments are filled */
    bool program;             /* an object that is a program by itself, not a library */
    struct build_id build_id; /* as the object says */
    bool jit;                 /* dumped by an engine from memory: has no symbols of its own */
    /* of one function that a JIT compiler dumped: its name; `view` is all of the dump, borrowed from another
     * image_file. NULL for everything else */
    const char *code_name;
    /* Names that the file itself lacks: of the kernel, from kallsyms and KSYMBOL records. NULL for
     * other files. */
    const struct image_symbol *symbols;
    size_t symbol_count;
    struct image_segment *segments; /* PT_LOAD, by address */
    uint32_t segment_count;
};

/* Reads the bytes of `file->local_path` and fills view, elf and segments; `memory` owns the
 * segments and the bytes of JIT dumps. False when the file cannot be read: then local_path becomes
 * NULL. A file that is no ELF object is no error. */
bool image_file_open(struct image_file *file, struct arena *memory, struct error *error);

/* Releases what image_file_open got outside of the arena. */
void image_file_close(struct image_file *file);

/* The segment in whose memory the object's own address lies; NULL: it is in none. */
const struct image_segment *image_file_segment(const struct image_file *file, uint64_t address);

/* The object's own address (p_vaddr based) of the byte at `file_offset`; false when no segment
 * holds it. */
bool image_file_address(const struct image_file *file, uint64_t file_offset, uint64_t *address);

/* The reverse: the file offset of the byte at the object's own address; false when no segment
 * contains it. *executable: whether it may be code; may be NULL. */
bool image_file_offset(const struct image_file *file, uint64_t address, uint64_t *file_offset,
                       bool *executable);

#endif
