/* A file that appears only when it is complete.
 *
 * The trace is written to a file without a name (O_TMPFILE) in the folder of its final one, mode
 * 0600, and gets its name at the end: whoever is killed before leaves nothing behind. Where the
 * file system knows no such files, it has a temporary name. Until the end a trace that was there
 * before stays as it is, and then it is kept as PATH.old (the original magic-trace's habit). A path
 * that is no regular file (a pipe, /dev/null, /dev/stdout) is written directly. A symbolic link is
 * followed: what it points to is replaced, not the link.
 */
#ifndef MAGIC_TRACE_OUTPUT_OUTPUT_FILE_H
#define MAGIC_TRACE_OUTPUT_OUTPUT_FILE_H

#include "base/error.h"

#include <stdbool.h>

struct output_file {
    int descriptor;
    char *path;      /* the final name, links resolved; owned */
    char *temporary; /* the name it has until then; owned; NULL when the path is written directly */
    bool nameless;   /* `temporary` is only where it would be */
    bool forgets;    /* what was there before is not kept */
};

bool output_file_create(struct output_file *file, const char *path, struct error *error);

/* The same for a file that nobody has named and that can be made again at any time: what was there
 * before is replaced and not kept, also a symbolic link. */
bool output_file_recreate(struct output_file *file, const char *path, struct error *error);

/* Closes the file and gives it its final name. On failure nothing is left of it and the old file is
 * back. */
bool output_file_commit(struct output_file *file, struct error *error);

/* Closes and removes what was written. */
void output_file_abandon(struct output_file *file);

/* Whether output_file_create would succeed; leaves nothing behind. For commands that want to know
 * before a long run. */
bool output_file_check(const char *path, struct error *error);

#endif
