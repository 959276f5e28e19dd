/* The trigger as the runtime sees it: an instruction that begins a fragment of its own. With -longer-than also each
 * place that calls of the trigger's function return to. And where the recording ends (-record-until).
 *
 * Called by dispatch.c each time it is about to run. Times are ticks of the recording's clock. */
#ifndef MAGIC_TRACE_RUNTIME_TRANSLATOR_TRIGGER_H
#define MAGIC_TRACE_RUNTIME_TRANSLATOR_TRIGGER_H

#include "runtime/translator/thread.h"

struct tr_translation; /* translation.h */

/* `translation`, which begins at app.pc and asks the runtime, is next; its entry was logged. False: tracing ends here. */
bool tr_trigger_reached(struct tr_thread *thread, const struct tr_translation *translation);

#endif
