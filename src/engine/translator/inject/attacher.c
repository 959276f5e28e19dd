#include "engine/translator/inject/attacher.h"

#include "base/file.h"
#include "engine/translator/inject/release.h"
#include "engine/translator/inject/stopped_threads.h"
#include "engine/translator/inject/take_over.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

/* How long threads may take to leave the translator: at the end, and when nobody waits any more. */
enum { PATIENCE_MS = 5000, LAST_PATIENCE_MS = 60000 };

struct request {
    pid_t pid; /* to take over; 0: let all go, and end */
};

struct answer {
    unsigned left; /* processes that are not released */
    struct error error;
};

/* ---- messages ---- */

static bool send_all(int line, const void *bytes, size_t size)
{
    const char *next = bytes;
    while (size > 0) {
        ssize_t sent = send(line, next, size, MSG_NOSIGNAL);
        if (sent < 0 && errno == EINTR)
            continue;
        if (sent <= 0)
            return false;
        next += sent;
        size -= (size_t)sent;
    }
    return true;
}

/* ---- the process ---- */

/* Whoever waits for the end of our output does not wait for this process. */
static void let_go_of_output(void)
{
    int nowhere = open("/dev/null", O_RDWR | O_CLOEXEC);
    for (int descriptor = 0; nowhere >= 0 && descriptor <= STDERR_FILENO; descriptor++)
        dup2(nowhere, descriptor);
}

static void hide_command_line(char **words)
{
    for (char **word = words; *word; word++) {
        size_t length = strlen(*word), name = strlen(THREADS_STOPPER);
        memset(*word, 0, length);
        if (word == words)
            memcpy(*word, THREADS_STOPPER, length < name ? length : name);
    }
}

static void serve(int line, struct translator_arena *arena, const struct runtime_image *image,
                  pid_t recorder)
{
    struct request request;
    while (file_read_exactly(line, &request, sizeof request)) {
        struct answer answer = {0};
        if (request.pid && getppid() == recorder)
            take_over(arena, image, request.pid, recorder, &answer.error);
        else if (!request.pid)
            answer.left = release_all(arena, image, PATIENCE_MS);
        if (send_all(line, &answer, sizeof answer) && !request.pid)
            return;
    }
    translator_arena_freeze(arena);
    release_all(arena, image, LAST_PATIENCE_MS);
}

static _Noreturn void run(int line, struct translator_arena *arena,
                          const struct runtime_image *image, pid_t recorder, char **command_line)
{
    sigset_t all;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, NULL);
    setsid();
    prctl(PR_SET_NAME, THREADS_STOPPER);
    hide_command_line(command_line);
    let_go_of_output();
    serve(line, arena, image, recorder);
    _exit(0);
}

/* ---- the recorder ---- */

bool attacher_begin(struct attacher *attacher, struct translator_arena *arena,
                    const struct runtime_image *image, char **command_line, struct error *error)
{
    int lines[2];
    pid_t recorder = getpid();
    *attacher = (struct attacher){0};
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, lines) != 0)
        return error_set_errno(error, ERROR_IO, errno, "cannot make a socket");
    pid_t pid = fork();
    if (pid == 0) {
        close(lines[0]);
        run(lines[1], arena, image, recorder, command_line);
    }
    close(lines[1]);
    if (pid < 0) {
        close(lines[0]);
        return error_set_errno(error, ERROR_IO, errno, "cannot start the process that attaches");
    }
    *attacher = (struct attacher){pid, lines[0]};
    return true;
}

static bool ask(const struct attacher *attacher, pid_t pid, struct answer *answer)
{
    struct request request = {pid};
    return attacher->pid && send_all(attacher->line, &request, sizeof request) &&
           file_read_exactly(attacher->line, answer, sizeof *answer);
}

bool attacher_take_over(struct attacher *attacher, pid_t pid, struct error *error)
{
    struct answer answer = {0};
    if (!ask(attacher, pid, &answer))
        return error_set(error, ERROR_IO, "the process that attaches (%s, %d) was killed.",
                         THREADS_STOPPER, (int)attacher->pid);
    *error = answer.error;
    return error->code == ERROR_NONE;
}

unsigned attacher_release_all(struct attacher *attacher, const struct translator_arena *arena,
                              const struct runtime_image *image)
{
    struct answer answer = {0};
    if (!attacher->pid)
        return 0;
    if (!ask(attacher, 0, &answer))
        answer.left = release_all(arena, image, PATIENCE_MS);
    close(attacher->line);
    while (waitpid(attacher->pid, NULL, 0) < 0 && errno == EINTR)
        ;
    *attacher = (struct attacher){0};
    return answer.left;
}
