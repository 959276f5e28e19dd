/* Gives a stopped process one of our descriptors, whatever its user, root directory and mount namespace: a file that it could
 * not open by its path. Used by take_over.c and exec_requests.c for the arena.
 *
 * The process makes a pair of sockets; we take one of them (pidfd_getfd(2), Linux 5.6) and send the descriptor through it
 * (SCM_RIGHTS, unix(7)). Both sockets are closed then.
 */
#ifndef MAGIC_TRACE_ENGINE_TRANSLATOR_PASS_DESCRIPTOR_H
#define MAGIC_TRACE_ENGINE_TRANSLATOR_PASS_DESCRIPTOR_H

#include "engine/translator/inject/remote_call.h"

enum { PASS_DESCRIPTOR_MEMORY = 256 }; /* bytes */

struct descriptor_passing {
    const struct remote_stub *stub;
    pid_t tid; /* the thread that makes the calls: remote_begin has prepared it */
    const struct remote_return *to;
    uint64_t memory; /* its address of PASS_DESCRIPTOR_MEMORY bytes that belong to us */
};

/* `theirs`: its number in the process, close-on-exec. False: the error's text is the end of a sentence. */
bool pass_descriptor(const struct descriptor_passing *passing, int descriptor, int32_t *theirs,
                     struct error *error);

/* The same for a process with one thread, at the stop of its exec (PTRACE_EVENT_EXEC). On success it is stopped where its program
 * begins, after the exec; on failure there or, if it cannot be traced any more, nowhere. */
bool pass_descriptor_at_exec(pid_t pid, int descriptor, int32_t *theirs, struct error *error);

#endif
