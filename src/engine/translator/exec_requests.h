/* Follows what traced processes execute.
 *
 * A traced process that is about to call execve asks for it (struct tr_request of layout.h). The recorder becomes its
 * tracer, waits for the new program's exec stop, loads the runtime (inject.h) and detaches. Whatever fails, the new
 * program runs natively, and is logged as untraced with the cause.
 *
 * A tracee belongs to one thread, but any thread of the process can reap it, so all this happens in the thread that
 * started the program and waits for it: from the loop of supervise.h. Another thread waits for requests and counts up
 * the heartbeat, by which processes know that they are served.
 */
#ifndef MAGIC_TRACE_ENGINE_TRANSLATOR_EXEC_REQUESTS_H
#define MAGIC_TRACE_ENGINE_TRANSLATOR_EXEC_REQUESTS_H

#include "base/array.h"
#include "base/error.h"
#include "engine/translator/arena.h"
#include "engine/translator/inject/runtime_image.h"
#include "process/seen_files.h"

#include <linux/futex.h>
#include <pthread.h>
#include <sys/types.h>

struct exec_requests {
    struct translator_arena *arena;
    const struct runtime_image *image;
    struct seen_files *files; /* get the programs that are executed */
    pid_t program;            /* our own child, which is not reaped here */
    int descriptor;           /* an eventfd: readable when there are requests to serve */
    pthread_t waiting;
    uint32_t seen; /* tr_control.requested as it was before any program was started */
    struct robust_list_head robust; /* of that thread: the kernel marks tr_control.recorder */
    struct robust_list entry;
    uint8_t idle[TR_REQUESTS]; /* for how many heartbeats each request has made no progress */
    _Atomic bool stop;
    struct array followed; /* threads that are traced before their execve */
    /* programs that were let go, and have not shown yet that they are traced */
    struct array started;
    _Atomic size_t unconfirmed; /* how many there are, for the other thread */
};

/* `arena`, `image` and `files` are borrowed until exec_requests_end. `program` is for the caller to set,
 * before the first call of exec_requests_serve. The struct must not move. */
bool exec_requests_begin(struct exec_requests *requests, struct translator_arena *arena,
                         const struct runtime_image *image, struct seen_files *files,
                         struct error *error);

/* Serves requests and followed threads. To be called when the descriptor is readable, and after SIGCHLD. */
void exec_requests_serve(struct exec_requests *requests);

/* Whether a process is about to execute a program, or has just done so, and will be traced again. */
bool exec_requests_are_open(const struct exec_requests *requests);

/* The recording is frozen. Threads that are followed are let go, and what they execute runs natively; processes that
 * ask from now on see that there is no answer. */
void exec_requests_end(struct exec_requests *requests);

#endif
