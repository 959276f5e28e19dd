/* A copy of a program's file in the recording, so that a file that is deleted, rebuilt or replaced
 * before the recording is decoded can still be decoded.
 *
 * Made by qemu's plugin when code of the file is first mapped, by the translator's recorder when the recording ends.
 * The copy of /a/b is DIR/images/a/b, and DIR/images/a/b~VERSION when another version lies there already; the recorder
 * finds it by the version (kept_files.h). Files of the system, which do not change meanwhile, and large ones are not
 * copied. The file itself stays as it is: not even a link to it is added.
 */
#ifndef MAGIC_TRACE_ENGINE_PACKETS_KEPT_FILE_H
#define MAGIC_TRACE_ENGINE_PACKETS_KEPT_FILE_H

#include <stdbool.h>
#include <stdint.h>

/* Keeps the file at `path`, provided that it has this inode. Returns its version, or 0 when there
 * is no copy: not wanted, no space, another file. */
uint64_t kept_file_copy(const char *directory, const char *path, uint64_t inode);

/* Keeps the regular file that is open, whatever its path and size, as that at `path`: for files of containers. Returns its version, or 0:
 * no space. */
uint64_t kept_file_copy_open(const char *directory, const char *path, int descriptor);

/* Keeps `size` bytes, which were the file at `path` when its code ran: for a file that is gone or has changed
 * since. False: they could not be written. */
bool kept_file_store(const char *directory, const char *path, uint64_t version, const void *bytes,
                     uint64_t size);

#endif
