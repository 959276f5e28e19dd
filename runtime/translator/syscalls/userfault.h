/* What a program asks of userfaultfd(2): that its threads supply pages to each other (code/supplied_pages.h), and have calls wait that change
 * mappings.
 *
 * Called by syscall.c, in the calling thread, for each ioctl: requests of userfaultfd are known by their number.
 */
#ifndef MAGIC_TRACE_RUNTIME_TRANSLATOR_USERFAULT_H
#define MAGIC_TRACE_RUNTIME_TRANSLATOR_USERFAULT_H

#include "runtime/translator/thread.h"

/* An ioctl of the program, before it is made: notes that pages will be supplied. NULL, or why the program cannot be traced: a fork
 * during which the kernel waits for another thread (UFFD_FEATURE_EVENT_FORK), while the runtime holds its locks. */
const char *tr_note_userfault(struct tr_thread *thread, uint32_t request, uint64_t argument);

/* After it: pages with code may have been moved elsewhere (UFFDIO_MOVE). */
void tr_userfault_made(struct tr_thread *thread, uint32_t request, uint64_t argument);

#endif
