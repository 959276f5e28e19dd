/* Copies of pages of code that is in no file, for the recorder, in the arena's dump area.
 *
 * Used by code_pages.c, under process->lock.
 */
#ifndef MAGIC_TRACE_RUNTIME_TRANSLATOR_CODE_DUMP_H
#define MAGIC_TRACE_RUNTIME_TRANSLATOR_CODE_DUMP_H

#include "runtime/translator/code/page_table.h"
#include "runtime/translator/thread.h"

/* Dumps the page and the CODE_IMAGE_TAIL bytes after it, with a mapping record that holds `since` then (0: now), unless the
 * newest dump is the same. Without space the page is counted in lost_dumps, and dumped the next time. */
void tr_code_dump(struct tr_thread *thread, struct tr_page *page, uint32_t protection,
                  uint64_t since);

/* Whether the CODE_IMAGE_TAIL bytes after the page, which has a dump, are those of the dump. */
bool tr_code_dump_has_tail(const struct tr_page *page);

/* `size` bytes of the dump area, accessible, for this process. Returns their address and *offset in the area; 0: there is
 * no space. */
uint64_t tr_dump_reserve(struct tr_process *process, uint64_t size, uint64_t *offset);

#endif
