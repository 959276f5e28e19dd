/* What the recorder itself adds to the sideband log (sideband_layout.h): programs that run untraced
 * although they should be traced, and why.
 */
#ifndef MAGIC_TRACE_ENGINE_TRANSLATOR_UNTRACED_LOG_H
#define MAGIC_TRACE_ENGINE_TRANSLATOR_UNTRACED_LOG_H

#include "engine/translator/arena.h"

/* `pid` as the recording numbers processes; `why` is the end of a sentence ("it is a 32-bit
 * program"). When the log is full the record is counted as lost. */
void untraced_log_add(struct translator_arena *arena, uint32_t pid, const char *name,
                      const char *why);

#endif
