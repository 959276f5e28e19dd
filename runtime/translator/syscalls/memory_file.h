/* Code that a program changes through /proc/self/mem: the kernel writes there whatever the protection of the pages is, so the runtime's own
 * notices nothing.
 *
 * Called by syscall.c after the system calls, in the calling thread.
 */
#ifndef MAGIC_TRACE_RUNTIME_TRANSLATOR_MEMORY_FILE_H
#define MAGIC_TRACE_RUNTIME_TRANSLATOR_MEMORY_FILE_H

#include "runtime/translator/thread.h"

/* open, openat or openat2 (`number`) has opened a file: remembers whether it may be such a one, to be written. */
void tr_note_memory_file(struct tr_thread *thread, int32_t number);

/* `count` bytes were written, by write, writev, pwrite64, pwritev or pwritev2, while such a file is open: what was translated of the
 * addresses that are the positions in the file is translated again. Of another file that costs a little time. */
void tr_memory_file_written(struct tr_thread *thread, int32_t number, uint64_t count);

#endif
