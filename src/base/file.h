/* Whole files: read, mapped, created so that only their owner can read them.
 *
 * Traces and recordings hold secrets of the traced program, so everything that magic-trace creates
 * is mode 0600 (directories 0700) whatever the umask.
 */
#ifndef MAGIC_TRACE_BASE_FILE_H
#define MAGIC_TRACE_BASE_FILE_H

#include "base/error.h"

#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

/* A file mapped for reading. An empty file has bytes NULL and size 0. A file that shrinks while it
 * is mapped gives SIGBUS on access: map only files that are not written to meanwhile, such as
 * recordings and the programs in them. */
struct file_view {
    const uint8_t *bytes;
    size_t size;
};

bool file_map(struct file_view *view, const char *path, struct error *error);
/* Opens a file for reading, as file_map does; returns the descriptor (close-on-exec) or -1. */
int file_open(const char *path, struct error *error);
/* Opens a file, FIFO or device that the user named, for reading; returns the descriptor
 * (close-on-exec) or -1. When no input comes for a second, as from a FIFO that nothing writes to, it
 * says on stderr what it waits for. A path of "-" means standard input. */
int file_open_input(const char *path, struct error *error);
/* As file_map, of any input that can be read (file_open_input): what is not a regular file is
 * copied first (file_spool). */
bool file_map_input(struct file_view *view, const char *path, struct error *error);
/* As file_map, of an open regular file; `path` is for the message only. The descriptor stays the
 * caller's. */
bool file_map_descriptor(struct file_view *view, int descriptor, const char *path,
                         struct error *error);
void file_unmap(struct file_view *view);

/* Copies the contents of a pipe into an unnamed temporary file, which takes the place of
 * `descriptor` (close-on-exec) and is positioned at its end; `path` is for the message only. */
bool file_spool(int descriptor, const char *path, struct error *error);

/* Reads a whole small file (also one of /proc, whose size is unknown before it is read). A NUL that
 * *size does not count follows the bytes. The caller frees. NULL on error. `size` may be NULL. */
char *file_read(const char *path, size_t *size, struct error *error);

/* Reads `size` bytes of a file, pipe or socket. False: it ended or failed before. */
bool file_read_exactly(int descriptor, void *bytes, size_t size);

/* As file_read, of an open file, from its current position; `path` is for the message only. The
 * descriptor stays the caller's. */
char *file_read_descriptor(int descriptor, const char *path, size_t *size, struct error *error);

/* Opens for writing, mode 0600, truncated; returns the descriptor (close-on-exec) or -1. Never
 * follows a symbolic link: in a directory that others can write to, it could name any file of the
 * user.
 */
int file_create_private(const char *path, struct error *error);

/* Writes all bytes, continuing after short writes; `path` is for the message only. */
bool file_write_all(int descriptor, const void *bytes, size_t size, const char *path,
                    struct error *error);

/* Gives a private file these bytes. They are written under another name first, PATH.partial, so that
 * nobody finds an incomplete file: on an error the old one, if any, stays. */
bool file_replace(const char *path, const void *bytes, size_t size, struct error *error);

/* The first executable file called `name` in the directories of PATH, found as execvp(3) does; the
 * caller frees. NULL if not found. */
char *file_find_program(const char *name);

/* As file_find_program, of the first file for which `suits` is true. */
char *file_find_in_path(const char *name, bool (*suits)(const char *path));

/* Whether `path` is a regular file that this process may execute. */
bool file_is_executable(const char *path);

/* Whether both are of one file, by whatever paths. */
static inline bool file_is_same(const struct stat *one, const struct stat *other)
{
    return one->st_dev == other->st_dev && one->st_ino == other->st_ino;
}

/* The target of a symbolic link, also of one in /proc; the caller frees. NULL and errno if it is no
 * link or cannot be read (of a process that has ended). */
char *file_read_link(const char *path);

/* Makes `path` and its missing parents, mode 0700; an existing directory is fine. */
bool file_make_directories(const char *path, struct error *error);

/* Removes a directory with its contents; a missing one is fine. Never follows symbolic links. */
bool file_remove_tree(const char *path, struct error *error);

#endif
