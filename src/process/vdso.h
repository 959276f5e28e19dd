/* The vDSO: code that the kernel maps into every process, and that is in no file.
 *
 * Programs run it to read the clock. All 64-bit processes of a machine have the same, so ours is
 * saved with a recording, as images/[vdso], where decoding finds what perf.data calls "[vdso]"
 * (vdso(7)).
 *
 * Used by engines that record natively, and by image/ for recordings that have no copy.
 */
#ifndef MAGIC_TRACE_PROCESS_VDSO_H
#define MAGIC_TRACE_PROCESS_VDSO_H

#include <stdint.h>

/* `directory`: the recording's folder. Does nothing without a vDSO; if the copy cannot be written,
 * decoding reports the missing file. */
void vdso_keep(const char *directory);

/* A descriptor, which the caller closes, of a file in memory with a copy of ours; -1 when there is
 * none, or it is not of `size` bytes. */
int vdso_copy(uint64_t size);

#endif
