/* Takes over a process that runs already: all its threads go on in the translator, each where it stands.
 *
 * Called by attacher.h, in the thread that is to be their tracer for the moment that it takes. What the
 * process and the recorder do is described in runtime/translator/attachment.h.
 */
#ifndef MAGIC_TRACE_ENGINE_TRANSLATOR_TAKE_OVER_H
#define MAGIC_TRACE_ENGINE_TRANSLATOR_TAKE_OVER_H

#include "base/error.h"
#include "engine/translator/arena.h"
#include "engine/translator/inject/runtime_image.h"

#include <sys/types.h>

/* `recorder`: the process whose recording it is. `first`: 0, or the thread of it that is stopped at a breakpoint, which is the one
 * that is recorded without -multi-thread (threads_stop_at). False: the process goes on as it was, and the error says why, as a whole sentence with what to do. */
bool take_over(struct translator_arena *arena, const struct runtime_image *image, pid_t pid,
               pid_t first, pid_t recorder, struct error *error);

#endif
