/* Files of the recording, made from inside the traced program by qemu's plugin, or by the recorder.
 *
 * A traced program must not be affected: no descriptor stays open, no signal is raised (SIGXFSZ under
 * `ulimit -f`), no disk block is missing when memory mapped from the file is touched (SIGBUS). All
 * of this runs on the program's own threads, possibly with very little stack and with any lock
 * held, so it does not allocate.
 */
#ifndef MAGIC_TRACE_ENGINE_PACKETS_PRIVATE_FILE_H
#define MAGIC_TRACE_ENGINE_PACKETS_PRIVATE_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Opens with O_CLOEXEC and, whatever the program's umask, mode 0600. `flags` as for open(2). -1
 * with errno. */
int private_file_open(const char *path, int flags);

/* Backs the file up to `size` bytes with disk space. */
bool private_file_allocate(int descriptor, uint64_t size);

/* Makes the file appear `size` bytes long, without disk space for what is new. */
bool private_file_extend(int descriptor, uint64_t size);

/* Writes all bytes at the current position. */
bool private_file_put(int descriptor, const void *bytes, size_t size);

/* Makes a file that must not exist yet and writes all bytes; removes it again when that fails. */
bool private_file_write(const char *path, const void *bytes, size_t size);

#endif
