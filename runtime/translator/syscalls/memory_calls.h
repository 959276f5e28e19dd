/* System calls that change the program's mappings. They cannot change the runtime's own memory, and keep what is
 * known of code up to date.
 */
#ifndef MAGIC_TRACE_RUNTIME_TRANSLATOR_MEMORY_CALLS_H
#define MAGIC_TRACE_RUNTIME_TRANSLATOR_MEMORY_CALLS_H

#include "runtime/translator/thread.h"

/* mmap, mprotect, pkey_mprotect, munmap, mremap, madvise, brk, shmat, shmdt, remap_file_pages, with the program's
 * arguments in thread->app. Returns what the program gets. */
int64_t tr_sys_memory(struct tr_thread *thread, int32_t number);

#endif
