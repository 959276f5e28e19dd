/* Code in a file that a program changes by system calls on a descriptor, as of memfd_create: every mapping of the file shows what
 * was written, whatever its protection is.
 *
 * Called by syscall.c after the system call, in the calling thread. Of files with a name that are mapped privately (programs and
 * their libraries) only changes of their size count, so that few programs pay for it.
 */
#ifndef MAGIC_TRACE_RUNTIME_TRANSLATOR_CODE_FILES_H
#define MAGIC_TRACE_RUNTIME_TRANSLATOR_CODE_FILES_H

#include "runtime/translator/thread.h"

/* The system call `number` was made. Where it changes the content of a file that the process executes, what was translated of the
 * file is translated again. */
void tr_code_file_changed(struct tr_thread *thread, int32_t number);

#endif
