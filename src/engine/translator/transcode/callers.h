/* The callers of the code that runs: from a copy of a thread's stack and registers in its log (TR_CALLS), unwound by
 * the rules in the objects that its process had mapped.
 *
 * Called by the transcoder where it begins in the middle of a thread, once or a few times for each.
 * Not for use by two threads at a time.
 */
#ifndef MAGIC_TRACE_ENGINE_TRANSLATOR_CALLERS_H
#define MAGIC_TRACE_ENGINE_TRANSLATOR_CALLERS_H

#include "base/array.h"
#include "base/clock.h"
#include "engine/packets/recorded.h"
#include "engine/translator/transcode/log_cursor.h"
#include "packet/calls.h"

struct callers;

/* `arena` and `recorded` are borrowed until callers_close; `recorded` needs no sideband log: that of the arena, which grows while the
 * program runs, is read. */
struct callers *callers_open(const struct translator_arena *arena, const struct recorded *recorded,
                             const struct clock_conversion *clock);
void callers_close(struct callers *callers);

/* In process `pid` at `time` (ticks), as `copy` (a TR_CALLS record) has its stack. Adds to `calls`
 * (of struct pt_call) those in progress, the outermost first. Returns whether these are all. */
bool callers_find(struct callers *callers, uint32_t pid, uint64_t time,
                  const struct log_record *copy, struct array *calls);

#endif
