/* The vDSO: code that the kernel maps into every process, and that is in no file.
 *
 * Programs run it to read the clock. All 64-bit processes of a machine have the same, so ours is
 * kept with a recording, as images/[vdso]: what perf.data calls "[vdso]" is then found (vdso(7)).
 *
 * Used by engines that record natively.
 */
#ifndef MAGIC_TRACE_PROCESS_VDSO_H
#define MAGIC_TRACE_PROCESS_VDSO_H

/* `directory`: the recording's folder. A machine without it has nothing to be kept; if the copy
 * cannot be written, decoding says what it lacks. */
void vdso_keep(const char *directory);

#endif
