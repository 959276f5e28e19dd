/* Mapped files that shrink while they are read: SIGBUS, which would end magic-trace without a word.
 *
 * The page that is missing reads as zeros from then on, which the readers of all formats take for
 * damage, and a warning names the file. Files that are mapped for writing are not handled.
 *
 * One handler per process, set by main; so its state is global. execve removes it.
 */
#ifndef MAGIC_TRACE_BASE_SHRUNK_FILES_H
#define MAGIC_TRACE_BASE_SHRUNK_FILES_H

#include <stdbool.h>

void shrunk_files_handle(void);

/* Whether there was one: what was made of it is not complete. */
bool shrunk_files_seen(void);

#endif
