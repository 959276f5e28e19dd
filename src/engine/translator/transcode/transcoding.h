/* All logs of a recording -> packet files, DIR/translator/ring.SERIAL.
 *
 * In ring mode that happens at the end; where there are many threads or processes, a thread of the recorder transcodes
 * the logs of those that have ended, whose slots and fragment tables are used again. In full execution, and when there can be several snapshots, a thread of
 * the recorder does it while the program runs, and programs wait for it when their rings are full. When the disk is
 * full, logs are still read, so that no program waits for ever, and the recording of the thread ends.
 */
#ifndef MAGIC_TRACE_ENGINE_TRANSLATOR_TRANSCODING_H
#define MAGIC_TRACE_ENGINE_TRANSLATOR_TRANSCODING_H

#include "engine/translator/arena.h"
#include "engine/translator/transcode/callers.h"
#include "engine/translator/transcode/fragments.h"
#include "engine/translator/transcode/off_cpu.h"

struct transcoding;

/* `directory`, `arena` and `off_cpu` (NULL: not known) are borrowed until transcoding_close. Goes on with what a killed
 * recorder has done already. NULL on error. */
struct transcoding *transcoding_begin(struct translator_arena *arena, const char *directory,
                                      struct off_cpu *off_cpu, struct error *error);

/* The recording is frozen and quiet (translator_arena_settle). Transcodes what is left. Damage in the arena is
 * warned of; false: a packet file could not be made. */
bool transcoding_finish(struct transcoding *transcoding, struct callers *callers,
                        struct error *error);

/* With the instruction clock, after transcoding_finish: when a sideband record was, by that clock. `context` is the
 * transcoding. */
uint64_t transcoding_time_of(void *context, const struct logged_record *record);

/* After transcoding_finish: the fragments of all that was recorded, but for those of address spaces that were forgotten. NULL:
 * others may have been transcoded before, while the program ran, by a recorder that was killed. */
const struct fragments *transcoding_fragments(const struct transcoding *transcoding);

/* As given to transcoding_begin. */
struct off_cpu *transcoding_off_cpu(const struct transcoding *transcoding);

void transcoding_close(struct transcoding *transcoding);

#endif
