/* The process that takes over and lets go, on behalf of the recorder.
 *
 * A thread that is stopped while it waits in epoll_wait would see EINTR if its tracer died then. So the tracer is a
 * process of its own, in a session of its own, with all signals blocked: killing magic-trace does not kill it. When the
 * recorder has died it freezes the recording and lets all processes go.
 *
 * Used by the engine's attach(). One for each recording.
 */
#ifndef MAGIC_TRACE_ENGINE_TRANSLATOR_ATTACHER_H
#define MAGIC_TRACE_ENGINE_TRANSLATOR_ATTACHER_H

#include "base/error.h"
#include "engine/translator/arena.h"
#include "engine/translator/inject/breakpoint_run.h"
#include "engine/translator/inject/runtime_image.h"

#include <sys/types.h>

struct attacher {
    pid_t pid;
    int line; /* a socket to it; readable when a place was reached, or it was killed */
};

/* `arena`, `image` and `places`, which may be NULL when none is to be held, are borrowed until attacher_release_all. To be called before any thread is started. `command_line`, our own argv, is
 * hidden in the new process, so that `pkill -f magic-trace` does not meet it. */
bool attacher_begin(struct attacher *attacher, struct translator_arena *arena,
                    const struct runtime_image *image, const struct trigger *places,
                    char **command_line, struct error *error);

/* A program begins natively (breakpoint_run.h) in three steps. First it is held before its exec (launch_held). */
bool attacher_hold(struct attacher *attacher, pid_t pid, bool follows_exec, struct error *error);
/* Then it was released, and this waits until it has reached its exec. */
bool attacher_runs_to_exec(struct attacher *attacher, struct error *error);
/* Then it runs, until a thread has arrived at one of the places, where it waits for attacher_take_over. It is let go when the
 * recording is frozen or the recorder dies. To be called when `line` is readable. */
enum attacher_report { ATTACHER_SILENT, ATTACHER_REACHED, ATTACHER_KILLED };
enum attacher_report attacher_report(struct attacher *attacher);

/* take_over.h. */
bool attacher_take_over(struct attacher *attacher, pid_t pid, struct error *error);

/* release.h: how many processes were not released. The recording is frozen. Ends the attacher; nothing when it was not begun. */
unsigned attacher_release_all(struct attacher *attacher, const struct translator_arena *arena,
                              const struct runtime_image *image);

#endif
