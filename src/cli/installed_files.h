/* The files that belong to an installed magic-trace besides the program, which carries them within itself.
 *
 * Made by embed_files.py when magic-trace is built. Called by `magic-trace install`, which writes them, and by
 * `magic-trace completion`, which prints one.
 */
#ifndef MAGIC_TRACE_CLI_INSTALLED_FILES_H
#define MAGIC_TRACE_CLI_INSTALLED_FILES_H

#include <stddef.h>

struct installed_file {
    const char *
        path; /* below the prefix; of a man page's template it ends in .in, which the installed file lacks */
    const char *link; /* the target of a symbolic link; NULL: a file */
    const unsigned char *bytes;
    size_t size;
};

extern const struct installed_file installed_files[];
extern const size_t installed_file_count;

/* NULL: no file has that path. */
const struct installed_file *installed_file_find(const char *path);

#endif
