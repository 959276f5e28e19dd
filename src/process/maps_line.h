/* The lines of /proc/PID/maps: the mappings of a process.
 *
 * Read by whoever looks for code or files in a running process, and by qemu's plugin: no allocation, and no
 * aborting. What runs inside a translated program, without libc, has its own (runtime/translator/syscalls/maps.h).
 *
 * Source: proc(5); show_map_vma() in fs/proc/task_mmu.c.
 */
#ifndef MAGIC_TRACE_PROCESS_MAPS_LINE_H
#define MAGIC_TRACE_PROCESS_MAPS_LINE_H

#include <stdbool.h>
#include <stdint.h>

struct maps_line {
    uint64_t start, end;  /* end exclusive */
    uint64_t file_offset; /* 0 without a file */
    uint64_t inode;       /* 0 without a file */
    uint32_t device_major, device_minor;
    int protection; /* PROT_ flags */
    bool shared;
    /* In the text; "" for anonymous memory. A file's begins with '/'; " (deleted)" follows when it has lost that name.
     * Line feeds, which the kernel writes as "\012", are restored. */
    char *path;
};

/* Takes the next line that makes sense off *text, which it moves on and cuts into lines; a text of NULL has none. False
 * at its end, where *text becomes NULL. */
bool maps_line_next(char **text, struct maps_line *line);

/* Whether it is executable memory of a file. */
bool maps_line_is_code_of_file(const struct maps_line *line);

#endif
