/* Which thread of this machine has made an exec request.
 *
 * The request has the numbers that getpid and gettid return there, which in another pid namespace are not ours.
 * Called by exec_requests.c.
 */
#ifndef MAGIC_TRACE_ENGINE_TRANSLATOR_REQUESTING_THREAD_H
#define MAGIC_TRACE_ENGINE_TRANSLATOR_REQUESTING_THREAD_H

#include "runtime/translator/layout.h"

#include <stdbool.h>
#include <sys/types.h>

struct thread_number {
    pid_t pid, tid; /* in our pid namespace */
};

/* `request` is live: only its nonce is changed. False when there is no such thread, or we may not
 * look into it. */
bool requesting_thread_find(struct thread_number *thread, struct tr_request *request);

#endif
