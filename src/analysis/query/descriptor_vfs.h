/* A database of SQLite's in a file that is open already and may have no name yet (output_file.h).
 *
 * Called by export_sqlite.c. SQLite opens files by name; this gives it one name for a descriptor. All other
 * files, those for sorting, are opened as usual. It takes no locks: only we have the file open.
 *
 * SQLite's interface: https://www.sqlite.org/vfs.html
 */
#ifndef MAGIC_TRACE_ANALYSIS_QUERY_DESCRIPTOR_VFS_H
#define MAGIC_TRACE_ANALYSIS_QUERY_DESCRIPTOR_VFS_H

#include <sqlite3.h>

#define DESCRIPTOR_VFS_NAME "magic-trace-descriptor"

struct descriptor_vfs {
    sqlite3_vfs base;
    sqlite3_vfs *usual;
    int descriptor; /* stays the caller's */
    int error;      /* errno of the last write that failed; 0: none did */
};

/* Registers it under DESCRIPTOR_VFS_NAME for the process until descriptor_vfs_end(); one at a time.
 * Gives SQLite's code. */
int descriptor_vfs_begin(struct descriptor_vfs *vfs, int descriptor);
void descriptor_vfs_end(struct descriptor_vfs *vfs);

#endif
