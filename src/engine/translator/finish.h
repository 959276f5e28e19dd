/* The end of a recording: arena -> perf.data and what session.json says.
 *
 * Called when the program has ended or the snapshot was taken, or by salvage, long after magic-trace
 * was killed.
 */
#ifndef MAGIC_TRACE_ENGINE_TRANSLATOR_FINISH_H
#define MAGIC_TRACE_ENGINE_TRANSLATOR_FINISH_H

#include "engine/packets/collect.h"
#include "engine/translator/transcode/transcoding.h"

/* The recording is frozen and quiet (translator_arena_settle). `collection`: command_line and clock
 * are set, the rest is 0; `watched` as in recorded.h. `seen` is borrowed as long as the
 * collection. Ends `transcoding` in any case. What it finds
 * is in the collection, to be freed in any case. On an error the arena stays: it can be
 * tried again. */
bool translator_finish(const struct translator_arena *arena, const char *directory,
                       struct transcoding *transcoding, bool watched, struct seen_files *seen,
                       struct collection *collection, struct error *error);

#endif
