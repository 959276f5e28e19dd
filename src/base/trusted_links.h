/* Symbolic links in a path that the user named for output: whether each is their own or the administrator's.
 *
 * In a folder that others may write to, a link of theirs could have us replace, or remove, any file of ours. The
 * kernel refuses to follow such a link only as the last part of a path, only in folders with the sticky bit, only where
 * fs.protected_symlinks is set, and only when it opens the file.
 *
 * Called before a trace is written (output/output_file.c) and before a recording's folder is made
 * (cli/recording_folder.c).
 */
#ifndef MAGIC_TRACE_BASE_TRUSTED_LINKS_H
#define MAGIC_TRACE_BASE_TRUSTED_LINKS_H

#include "base/error.h"

#include <stdbool.h>

/* Looks at every part of the path, and of what links in it lead to; parts that do not exist are none. False, and the
 * error names the link, when one is another user's. Links of proc(5) are the kernel's. */
bool trusted_links(const char *path, struct error *error);

/* Where the symbolic link `path` leads to, from here: relative targets begin in its folder. The caller frees; NULL and
 * errno if it cannot be read. */
char *link_target(const char *path);

#endif
