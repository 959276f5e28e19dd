/* Hot paths: superblocks that are formed again, along the path that the program really takes.
 *
 * The log shows which path that is, so nothing has to be counted (next-executing-tail selection, Duesterwald and
 * Bala, ASPLOS 2000). Whenever a thread enters the runtime to have its ring cleared, hot_path.c looks at what it ran
 * since the last time: from a fragment that a loop or an indirect branch leads to it follows the log and makes one
 * fragment of those that ran one after the other, past indirect branches too, whose targets are then compared inline.
 * That fragment takes the place of the first one. Fewer fragments run, so fewer words are logged and fewer branches
 * go through the table.
 */
#ifndef MAGIC_TRACE_RUNTIME_TRANSLATOR_HOT_PATH_H
#define MAGIC_TRACE_RUNTIME_TRANSLATOR_HOT_PATH_H

#include "runtime/translator/thread.h"

/* The log's newest record is a fragment's entry. Uses a twentieth of the thread's time at most. */
void tr_hot_path_look(struct tr_thread *thread);

#endif
