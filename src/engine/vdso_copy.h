/* The code that the kernel maps into every process, [vdso]: in no file, so it is kept with the
 * recording, as images/[vdso].
 *
 * Called by engines whose records come from the kernel, before they record. All 64-bit processes of
 * a running kernel have the same, so ours is as good as any.
 */
#ifndef MAGIC_TRACE_ENGINE_VDSO_COPY_H
#define MAGIC_TRACE_ENGINE_VDSO_COPY_H

#include "base/error.h"

/* Makes images/ in the recording's folder. A kernel without it is no error. */
bool vdso_copy(const char *directory, struct error *error);

#endif
