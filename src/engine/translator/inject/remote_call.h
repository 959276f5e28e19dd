/* System calls in a stopped thread of a process that runs already, without harm when the recorder dies meanwhile.
 *
 * A stub (remote_call.S) lies in bytes at the end of the process's vDSO that belong to nothing. It makes the call that the
 * recorder has put into the registers, then restores the thread's signal mask and its registers from data after it, and
 * jumps to where the thread is to go on. So the thread goes on there by itself whatever happens to the recorder. Signals
 * are blocked meanwhile.
 *
 * One thread at a time. The thread is stopped for PTRACE_INTERRUPT, with PTRACE_O_TRACESYSGOOD.
 */
#ifndef MAGIC_TRACE_ENGINE_TRANSLATOR_REMOTE_CALL_H
#define MAGIC_TRACE_ENGINE_TRANSLATOR_REMOTE_CALL_H

#include "base/error.h"

#include <stdint.h>
#include <sys/types.h>
#include <sys/user.h>

struct remote_stub {
    pid_t pid;
    int memory;       /* /proc/PID/mem, open for reading and writing; borrowed */
    uint64_t address; /* of the stub in the process */
};

/* Where a thread goes on. */
struct remote_return {
    struct user_regs_struct registers;
    uint64_t mask;
};

/* Puts the stub into the process; `tid` is one of its threads, which are all stopped. The error's text is the end of a
 * sentence. */
bool remote_stub_place(struct remote_stub *stub, pid_t pid, pid_t tid, int memory,
                       struct error *error);
/* Where a recorder that was killed has left its stub; 0: nowhere. A thread may be in it still. */
uint64_t remote_stub_left(pid_t pid);
/* In bytes. */
uint64_t remote_stub_size(void);

/* The bytes are as they were. No thread is in the stub. */
void remote_stub_remove(const struct remote_stub *stub);

/* The same for a thread at the stop of its exec: it ends that call first. Signals stay blocked; `to` is where its program begins. */
bool remote_end_exec(pid_t tid, struct remote_return *to, struct error *error);

/* Prepares the thread for calls: it goes on at `to` when the recorder dies. */
bool remote_begin(const struct remote_stub *stub, const struct remote_return *to,
                  struct error *error);
/* The call's result, negative errno on failure. The thread is stopped after the call. False: the thread is gone, or
 * cannot be traced any more. */
bool remote_call(const struct remote_stub *stub, pid_t tid, const struct remote_return *to,
                 int64_t number, const uint64_t arguments[6], int64_t *result, struct error *error);
/* The thread is where it is to go on, with its mask, still stopped. */
bool remote_end(const struct remote_stub *stub, pid_t tid, const struct remote_return *to,
                struct error *error);

#endif
