/* Finds the source of code that runs: which file, or a dump of its page.
 *
 * Called for every block that qemu translates, under qemu's translation lock, so by one thread at a
 * time; only code_map_forget is called from anywhere. Mappings come from /proc/self/maps of the
 * host, which contains the guest's as well. Code that differs from its file (JIT, self-modified,
 * relocated), or has no file, is dumped page by page, again whenever the page has changed.
 */
#ifndef MAGIC_TRACE_RUNTIME_QEMU_PLUGIN_CODE_MAP_H
#define MAGIC_TRACE_RUNTIME_QEMU_PLUGIN_CODE_MAP_H

#include "runtime/qemu_plugin/sideband.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct code_map {
    struct sideband *log;
    const char *directory;       /* of the recording */
    uint32_t serial;             /* makes the names of our dumps unique in the recording */
    uint32_t dumps;              /* written so far */
    uint64_t guest_base;         /* host address of guest address 0 */
    _Atomic uint32_t generation; /* moves when mappings may have changed */
    struct code_region *regions; /* of /proc/self/maps, executable for the guest or not; owned */
    size_t region_count;
    uint32_t regions_generation; /* when they were read */
    struct code_file *files;     /* hash: what has been logged as mapped; owned */
    struct code_page *pages;     /* hash: pages that code was translated from; owned */
};

/* What is known about the page's content. */
enum code_source {
    CODE_UNKNOWN, /* nowhere mapped, or no space for a dump */
    CODE_FILE,    /* read-only bytes of a file */
    CODE_DUMPED,  /* may change without a system call */
};

/* Code at guest addresses [start, end) is about to run for the first time, at `subject->time`: logs
 * where it comes from unless that is known. Returns the source of the first page. */
enum code_source code_map_learn(struct code_map *map, const struct sideband_subject *subject,
                                uint64_t start, uint64_t end);

/* Whether code between the guest addresses may take the place of other code that was logged,
 * without a system call in between. */
bool code_map_may_replace(struct code_map *map, uint64_t start, uint64_t end);

/* The file that is mapped at guest address `address`; false: no file is. The path is valid until the
 * next call of any of these. */
struct code_place {
    const char *path;
    uint64_t inode, file_offset; /* of the byte at `address` */
};
bool code_map_place(struct code_map *map, uint64_t address, struct code_place *place);

/* Some mapping was changed by a system call. */
void code_map_forget(struct code_map *map);

#endif
