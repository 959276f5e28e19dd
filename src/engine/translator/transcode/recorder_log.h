/* What the recorder itself adds to the sideband log (sideband_layout.h): programs that run untraced
 * although they should be traced, and why; which packets belong to snapshots. When the log is full, a
 * record is counted as lost.
 */
#ifndef MAGIC_TRACE_ENGINE_TRANSLATOR_RECORDER_LOG_H
#define MAGIC_TRACE_ENGINE_TRANSLATOR_RECORDER_LOG_H

#include "engine/translator/arena.h"

/* `pid` as the recording numbers processes; `why` is the end of a sentence ("it is a 32-bit
 * program"). */
void recorder_log_untraced(struct translator_arena *arena, uint32_t pid, const char *name,
                           const char *why);

/* Of the packets of slot `serial`, from stream position `begin` to `end`. */
void recorder_log_kept(struct translator_arena *arena, uint32_t serial, uint64_t begin,
                       uint64_t end);

#endif
