/* Whether the recorder is still there.
 *
 * Asked before the runtime waits for the recorder, and while it does.
 */
#ifndef MAGIC_TRACE_RUNTIME_TRANSLATOR_RECORDER_H
#define MAGIC_TRACE_RUNTIME_TRANSLATOR_RECORDER_H

#include "runtime/translator/layout.h"

#include <stdbool.h>

/* False at once when it has ended or was killed; true as well while it is stopped: see the heartbeat. */
static inline bool tr_recorder_lives(const struct tr_control *control)
{
    return !atomic_load(&control->recorder_stopped) &&
           !(atomic_load(&control->recorder) & TR_RECORDER_DIED);
}

/* Threads are to go on natively. A program that `run` started is traced on when its recorder has died: its log can be
 * finished later. */
static inline bool tr_recording_is_over(const struct tr_control *control)
{
    return atomic_load_explicit(&control->frozen, memory_order_relaxed) ||
           (control->options.attached && !tr_recorder_lives(control));
}

#endif
