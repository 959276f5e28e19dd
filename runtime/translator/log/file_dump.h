/* Copies of the program's files of code, in the arena's dump area: a program may replace or delete them while it runs, as
 * those do that unpack their libraries into a temporary folder.
 *
 * Used by code_pages.c, under process->lock, when code of a file first runs. A file is copied once in a recording, unless
 * it is the system's or large (engine/packets/kept_file_rules.h). The recorder writes those copies into the recording that
 * have no file any more (engine/translator/kept_dumps.h).
 */
#ifndef MAGIC_TRACE_RUNTIME_TRANSLATOR_FILE_DUMP_H
#define MAGIC_TRACE_RUNTIME_TRANSLATOR_FILE_DUMP_H

#include "runtime/translator/thread.h"

/* `inode` is the mapping's. Returns the file's version (engine/packets/file_version.h); 0: there is no copy. */
uint64_t tr_file_dump(struct tr_process *process, const char *path, uint64_t inode);

#endif
