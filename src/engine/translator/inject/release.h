/* Lets processes go that were taken over (take_over.h): all threads run natively, and nothing of the runtime is left.
 *
 * The recording is frozen, or its recorder has died: threads that run leave the translator by themselves. Those that sleep
 * in a system call are moved here, so that they make it again natively, and when none is left in the runtime the
 * process's dispositions and memory are as they were. Several short stops, until all threads have left.
 *
 * Called by attacher.h, and by the next magic-trace that attaches when that was killed.
 */
#ifndef MAGIC_TRACE_ENGINE_TRANSLATOR_RELEASE_H
#define MAGIC_TRACE_ENGINE_TRANSLATOR_RELEASE_H

#include "base/error.h"
#include "engine/translator/arena.h"
#include "engine/translator/inject/runtime_image.h"

#include <stdint.h>
#include <sys/types.h>

/* By which magic-traces of one build know each other. */
uint64_t release_signature(const struct runtime_image *image);

/* `stored`: the image as programs are given it that processes execute which were attached to. For `recorder` to let them go. */
void release_mark_image(uint8_t *stored, const struct runtime_image *image, pid_t recorder);

/* Lets go all processes that map the arena: the attached ones and those that they have made. Waits at most `patience_ms` for
 * threads that do not leave; how many processes are not released then. */
unsigned release_all(const struct translator_arena *arena, const struct runtime_image *image,
                     unsigned patience_ms);

/* What an earlier magic-trace has left in a process. True when there was nothing; false: it is traced at this moment, or by
 * another build; the error's text is the end of a sentence. */
bool release_leftovers(const struct runtime_image *image, pid_t pid, struct error *error);

#endif
