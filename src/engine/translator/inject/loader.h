/* The loader: code that a program runs, at its exec stop, to load the translator's runtime into itself.
 *
 * inject.c copies the bytes between loader_code and loader_code_end, which are position-independent, into the program,
 * points rbx to struct loader_parameters in the program's memory, and lets it run there. The loader makes these system
 * calls: openat and mmap of the arena, mmap of memory for the image, mprotect, close. When one fails it undoes the
 * others and jumps to the program's entry. In any case it clears its parameters, and leaves all registers and flags as
 * the kernel leaves them for a new program (ELF_PLAT_INIT of Linux: general registers are 0).
 */
#ifndef MAGIC_TRACE_ENGINE_TRANSLATOR_LOADER_H
#define MAGIC_TRACE_ENGINE_TRANSLATOR_LOADER_H

/* Offsets in struct loader_parameters and struct tr_start for the assembler; inject.c checks them. */
#define LOADER_SIZE 0x00
#define LOADER_ARENA_HINT 0x08
#define LOADER_ARENA_SIZE 0x10
#define LOADER_OPEN_SIZE 0x18
#define LOADER_IMAGE_HINT 0x20
#define LOADER_MEMORY_SIZE 0x28
#define LOADER_FILE_SIZE 0x30
#define LOADER_START_INFO 0x38
#define LOADER_ENTRY 0x40
#define LOADER_ARENA_FILE 0x48
#define LOADER_START 0x50
#define LOADER_START_SIZE 0x48
#define LOADER_PATH 0x98
#define TR_START_PC 0x00
#define TR_START_IMAGE 0x08
#define TR_START_ARENA 0x18
#define LOADER_IMAGE_OFFSET 0x200000 /* TR_IMAGE_OFFSET */

#ifndef __ASSEMBLER__
#include "runtime/translator/layout.h"

#include <stdint.h>

struct loader_parameters {
    uint64_t size; /* of these parameters, the path included */
    uint64_t arena_hint, arena_size;
    /* bytes of the arena, from its beginning, that become readable and writable */
    uint64_t open_size;
    uint64_t image_hint, memory_size; /* of the image in memory */
    uint64_t file_size;               /* bytes that are copied */
    uint64_t start_info, entry;       /* offsets in the image: symbols tr_start_info and tr_start */
    int64_t arena_file;    /* the process's descriptor of the arena; -1: it opens `path` */
    struct tr_start start; /* image and arena are filled in by the loader */
    char path[];           /* of the arena */
};

extern const unsigned char loader_code[], loader_code_end[];
#endif

#endif
