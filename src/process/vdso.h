/* The vDSO: code that the kernel maps into every process, and that is in no file.
 *
 * Programs run it to read the clock. All 64-bit processes of a machine have the same, so ours is
 * saved with a recording, as images/[vdso], where decoding finds what perf.data calls "[vdso]"
 * (vdso(7)).
 *
 * Used by engines that record natively.
 */
#ifndef MAGIC_TRACE_PROCESS_VDSO_H
#define MAGIC_TRACE_PROCESS_VDSO_H

/* `directory`: the recording's folder. Does nothing without a vDSO; if the copy cannot be written,
 * decoding reports the missing file. */
void vdso_keep(const char *directory);

#endif
