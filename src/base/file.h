/* Whole files: read, mapped, created so that only their owner can read them.
 *
 * Traces and recordings hold secrets of the traced program, so everything that magic-trace creates
 * is mode 0600 (folders 0700) whatever the umask.
 */
#ifndef MAGIC_TRACE_BASE_FILE_H
#define MAGIC_TRACE_BASE_FILE_H

#include "base/error.h"

#include <stddef.h>
#include <stdint.h>

/* A file mapped for reading. An empty file has bytes NULL and size 0. A file that shrinks while it
 * is mapped gives SIGBUS on access: map what nobody writes, recordings and the programs in them. */
struct file_view {
    const uint8_t *bytes;
    size_t size;
};

bool file_map(struct file_view *view, const char *path, struct error *error);
/* The same of any input that can be read: a path of "-" means standard input, and what is no
 * regular file is copied first (file_spool). */
bool file_map_input(struct file_view *view, const char *path, struct error *error);
/* The same of an open regular file; `path` is for the message only. The descriptor stays the
 * caller's. */
bool file_map_descriptor(struct file_view *view, int descriptor, const char *path,
                         struct error *error);
void file_unmap(struct file_view *view);

/* Copies what comes from a pipe into an unnamed temporary file, which takes the place of
 * `descriptor` (close-on-exec) and stands at its end; `path` is for the message only. */
bool file_spool(int descriptor, const char *path, struct error *error);

/* Reads a whole small file (also one of /proc, whose size is not known beforehand); the bytes end
 * with a NUL that is not counted in *size. The caller frees. NULL on error. `size` may be NULL. */
char *file_read(const char *path, size_t *size, struct error *error);

/* The same of an open file, from where it stands; `path` is for the message only. The descriptor
 * stays the caller's. */
char *file_read_descriptor(int descriptor, const char *path, size_t *size, struct error *error);

/* Opens for writing, mode 0600, truncated; returns the descriptor (close-on-exec) or -1. Never
 * follows a symbolic link: in a folder that others can write to, it could lead to any file of ours.
 */
int file_create_private(const char *path, struct error *error);

/* Writes all bytes, continuing after short writes; `path` is for the message only. */
bool file_write_all(int descriptor, const void *bytes, size_t size, const char *path,
                    struct error *error);

/* The first file called `name` in the folders of PATH that may be executed, found as execvp(3)
 * does; the caller frees. NULL when there is none. */
char *file_find_program(const char *name);

/* The same of whatever `suits`. */
char *file_find_in_path(const char *name, bool (*suits)(const char *path));

/* Whether it is a regular file that we may execute. */
bool file_is_executable(const char *path);

/* Where a symbolic link leads, also one of /proc; the caller frees. NULL and errno when there is
 * none, or its file is nowhere (of a process that has ended). */
char *file_read_link(const char *path);

/* Makes `path` and its missing parents, mode 0700; an existing folder is fine. */
bool file_make_directories(const char *path, struct error *error);

/* Removes a folder with all that is in it; a missing one is fine. Never follows symbolic links. */
bool file_remove_tree(const char *path, struct error *error);

#endif
