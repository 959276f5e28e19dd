/* /proc/self/maps, read and parsed (proc(5); show_map_vma() in fs/proc/task_mmu.c), and the page flags of
 * /proc/self/pagemap (Documentation/admin-guide/mm/pagemap.rst).
 *
 * Used by code_map.c, under process->lock.
 */
#ifndef MAGIC_TRACE_RUNTIME_TRANSLATOR_MAPS_H
#define MAGIC_TRACE_RUNTIME_TRANSLATOR_MAPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A line. */
struct tr_map_line {
    uint64_t start, end, offset, inode;
    uint32_t major, minor;
    uint8_t protection; /* PROT_ flags */
    bool shared;
    const char *path; /* in the text, as the kernel wrote it, not terminated */
    size_t path_size; /* 0: none */
};

/* Parses the line at `text`, which ends at a line feed before `end`, and returns the beginning of the next one.
 * NULL: there is no further line that makes sense. */
const char *tr_maps_line(const char *text, const char *end, struct tr_map_line *line);

/* Copies the path, NUL-terminated, with its line feeds, which the kernel writes as "\012". `size` > 0; a longer path is
 * cut off. */
void tr_maps_path(const struct tr_map_line *line, char *path, size_t size);

/* The text as it was read; the memory is used again by the next reading. */
struct tr_maps_text {
    char *text;
    size_t size, capacity;
};

/* A descriptor of the text, or -errno: no /proc is mounted where the process sees it. */
int64_t tr_maps_open(void);

/* False when it cannot be opened, or there is no memory. */
bool tr_maps_read(struct tr_maps_text *maps);

/* The first page in [start, end), which lies in a private mapping of a file, that was written to and so has memory of
 * its own; `end` when no page was, or the kernel does not say. */
uint64_t tr_maps_written(uint64_t start, uint64_t end);

/* Whether there is a page at the address, in memory or swapped out. True also where the kernel does not say. */
bool tr_maps_is_present(uint64_t address);

/* Whether the page at `address` is what lies at `offset` of the file. False also when the file cannot be read. Bytes
 * after the file's end are not compared. */
bool tr_maps_equals_file(uint64_t address, const char *path, uint64_t offset);

#endif
