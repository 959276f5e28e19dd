/* A file that appears only when it is complete.
 *
 * The trace is written to a file without a name (O_TMPFILE) in the folder of its final one, mode
 * 0600, and gets its name at the end: a process that is killed before leaves no file. Where the
 * file system does not support such files, it has a temporary name. Until the end an older trace of
 * that name stays as it is, and then it is renamed to PATH.old (as by Jane Street's magic-trace). A
 * path that is no regular file (a pipe, /dev/null, /dev/stdout) is written directly. A symbolic
 * link is followed: its target is replaced, not the link.
 */
#ifndef MAGIC_TRACE_OUTPUT_OUTPUT_FILE_H
#define MAGIC_TRACE_OUTPUT_OUTPUT_FILE_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>

struct output_file {
    int descriptor;
    char *path;      /* the final name, links resolved; owned */
    char *temporary; /* the name it has until then; owned; NULL when the path is written directly */
    bool nameless;   /* `temporary` is only where it would be */
    bool forgets;    /* what was there before is not kept */
};

bool output_file_create(struct output_file *file, const char *path, struct error *error);

/* The same for a file whose name the user did not choose and that can be made again at any time: an
 * older file is replaced and not kept, also a symbolic link. */
bool output_file_recreate(struct output_file *file, const char *path, struct error *error);

/* Closes the file and gives it its final name. On failure it is removed, and the old file is
 * restored. */
bool output_file_commit(struct output_file *file, struct error *error);

/* Closes and removes what was written. */
void output_file_abandon(struct output_file *file);

/* Writes a whole file at once, at a path that the user chose; an older one is replaced and not kept. For what can be
 * made again, or is kept elsewhere (in version control). */
bool output_file_write(const char *path, const void *bytes, size_t size, struct error *error);

/* Whether output_file_create would succeed; leaves no file. For commands that check this before a
 * long run. */
bool output_file_check(const char *path, struct error *error);

#endif
