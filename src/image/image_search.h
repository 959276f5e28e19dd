/* Finds the bytes of a recorded file on this machine.
 *
 * Called by file_table.c for each path that a recording names. In this order:
 *   1. DIR/images/NAME, for a recorded path that ends in "images/NAME": a page dumped by the qemu
 *      engine, or, when NAME has folders, a copy of a file. Its path was recorded absolute, and the
 *      recording's folder may have been moved or copied since.
 *   2. DIR/images/PATH, the recorded path below the recording's images folder
 *      (DIR/images/usr/bin/xz): where images are bundled, laid out so that `perf script --symfs
 *      DIR/images` finds them too.
 *   3. The recorded path itself. Of a file that the kernel marked " (deleted)" only when its inode
 *      is still the recorded one; otherwise another file has taken its place.
 *
 * If the recording has the file's build id, and the file is not at its path or is another one,
 * build_id_cache.h and debuginfod.h name further places.
 *
 * Names of memory without a file ("//anon", "[heap]", "/memfd:x (deleted)") are looked for in
 * DIR/images only.
 */
#ifndef MAGIC_TRACE_IMAGE_IMAGE_SEARCH_H
#define MAGIC_TRACE_IMAGE_IMAGE_SEARCH_H

#include <stdbool.h>
#include <stdint.h>

struct image_location {
    char *path;   /* owned by the caller; NULL when there is no such regular file */
    bool jit;     /* found by rule 1: a dumped page */
    bool bundled; /* found in the recording's folder */
};

/* `directory` is the recording's folder or NULL. `inode` 0 means not recorded. */
struct image_location image_search(const char *directory, const char *recorded_path,
                                   uint64_t inode);

/* Whether the kernel's name for a mapping means memory that never had a file. */
bool image_path_is_anonymous(const char *recorded_path);

#endif
