/* Pages that another thread of the program supplies when they are first touched (userfaultfd(2)): who reads one waits for that thread. So the
 * runtime reads such a page only where it holds no lock that the other thread may need.
 *
 * Called by superblock.c and code_dump.c before they read code, under process->lock. syscalls/userfault.h notes that there may be such pages.
 */
#ifndef MAGIC_TRACE_RUNTIME_TRANSLATOR_SUPPLIED_PAGES_H
#define MAGIC_TRACE_RUNTIME_TRANSLATOR_SUPPLIED_PAGES_H

#include "runtime/translator/thread.h"

/* Whether reading at the address could wait for another thread: the process has such pages, and no page is there yet. False where
 * the kernel does not say (files_forbidden, no /proc). */
bool tr_page_is_awaited(uint64_t address);

#endif
