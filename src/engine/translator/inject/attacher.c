#include "engine/translator/inject/attacher.h"

#include "base/child_wait.h"
#include "base/file.h"
#include "engine/translator/inject/release.h"
#include "engine/translator/inject/stopped_threads.h"
#include "engine/translator/inject/take_over.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

/* How long threads may take to leave the translator: at the end, and when nobody waits any more. */
enum { PATIENCE_MS = 60000, LAST_PATIENCE_MS = 120000 };

enum what {
    TAKE_OVER,
    RELEASE_ALL, /* and end */
    HOLD,
    HOLD_THROUGH_EXECS, /* also when the program executes another one */
    REACHED,            /* its exec, or a place: only in answers */
};

struct request {
    enum what what;
    pid_t pid;
};

struct answer {
    enum what what; /* of the request, or REACHED */
    unsigned left;  /* processes that are not released */
    struct error error;
};

/* The attacher's own state. */
struct serving {
    int line;
    struct translator_arena *arena;
    const struct runtime_image *image;
    const struct trigger *places;
    pid_t recorder;
    struct breakpoint_run run; /* of the program that runs natively; pid 0: no program does */
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

static bool send_answer(const struct serving *serving, const struct answer *answer)
{
    return send_all(serving->line, answer, sizeof *answer);
}

/* All of its threads are let go by that. */
static void take_process_over(struct serving *serving, pid_t pid, struct error *error)
{
    struct breakpoint_run *run = &serving->run;
    pid_t first = run->pid == pid ? run->reached : 0;
    take_over(serving->arena, serving->image, pid, first, serving->recorder, error);
    if (first) {
        run->threads.count = 0;
        breakpoint_run_end(run);
    }
}

/* Whether the recorder has got the answer. */
static bool answer_request(struct serving *serving, const struct request *request)
{
    struct answer answer = {.what = request->what};
    switch (request->what) {
    case TAKE_OVER:
        if (getppid() == serving->recorder)
            take_process_over(serving, request->pid, &answer.error);
        break;
    case RELEASE_ALL:
        breakpoint_run_end(&serving->run);
        answer.left = release_all(serving->arena, serving->image, PATIENCE_MS);
        break;
    default:
        breakpoint_run_begin(&serving->run, request->pid, serving->places,
                             request->what == HOLD_THROUGH_EXECS, &answer.error);
        break;
    }
    bool sent = send_answer(serving, &answer);
    if (!sent || answer.error.code != ERROR_NONE || answer.what < HOLD)
        return sent;
    answer.what = REACHED;
    breakpoint_run_to_exec(&serving->run, &answer.error);
    return send_answer(serving, &answer);
}

/* Until there is a request, or the line has ended. */
static void watch_run(struct serving *serving, int signals)
{
    enum { LOOK_MS = 200 };
    struct pollfd waited_for[] = {{.fd = serving->line, .events = POLLIN},
                                  {.fd = signals, .events = POLLIN}};
    struct breakpoint_run *run = &serving->run;
    const struct answer answer = {.what = REACHED};
    while (run->pid && !run->reached) {
        struct signalfd_siginfo info;
        poll(waited_for, 2, LOOK_MS);
        while (read(signals, &info, sizeof info) == sizeof info)
            ;
        if (waited_for[0].revents)
            return;
        if (!breakpoint_run_goes_on(run) || atomic_load(&serving->arena->control->frozen))
            breakpoint_run_end(run);
        else if (run->reached)
            send_answer(serving, &answer);
    }
}

static bool next_request(struct serving *serving, int signals, struct request *request)
{
    watch_run(serving, signals);
    return file_read_exactly(serving->line, request, sizeof *request);
}

static void serve(struct serving *serving, int signals)
{
    struct request request;
    while (next_request(serving, signals, &request))
        if (answer_request(serving, &request) && request.what == RELEASE_ALL)
            return;
    breakpoint_run_end(&serving->run);
    translator_arena_freeze(serving->arena);
    release_all(serving->arena, serving->image, LAST_PATIENCE_MS);
}

static _Noreturn void run(struct serving *serving, char **command_line)
{
    sigset_t all;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, NULL);
    setsid();
    prctl(PR_SET_NAME, THREADS_STOPPER);
    hide_command_line(command_line);
    let_go_of_output();
    sigset_t children;
    sigemptyset(&children);
    sigaddset(&children, SIGCHLD);
    serve(serving, signalfd(-1, &children, SFD_CLOEXEC | SFD_NONBLOCK));
    _exit(0);
}

/* ---- the recorder ---- */

bool attacher_begin(struct attacher *attacher, struct translator_arena *arena,
                    const struct runtime_image *image, const struct trigger *places,
                    char **command_line, struct error *error)
{
    int lines[2];
    struct serving serving = {
        .arena = arena, .image = image, .places = places, .recorder = getpid()};
    *attacher = (struct attacher){0};
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, lines) != 0)
        return error_set_errno(error, ERROR_IO, errno, "cannot make a socket");
    pid_t pid = fork();
    if (pid == 0) {
        close(lines[0]);
        serving.line = lines[1];
        run(&serving, command_line);
    }
    close(lines[1]);
    if (pid < 0) {
        close(lines[0]);
        return error_set_errno(error, ERROR_IO, errno, "cannot start the process that attaches");
    }
    *attacher = (struct attacher){pid, lines[0]};
    return true;
}

/* That a place was reached may be said just before the answer. */
static bool read_answer(const struct attacher *attacher, enum what what, struct answer *answer)
{
    do {
        if (!file_read_exactly(attacher->line, answer, sizeof *answer))
            return false;
    } while (answer->what != what);
    return true;
}

static bool ask(const struct attacher *attacher, enum what what, pid_t pid, struct answer *answer)
{
    struct request request = {what, pid};
    return attacher->pid && send_all(attacher->line, &request, sizeof request) &&
           read_answer(attacher, what, answer);
}

static bool was_killed(const struct attacher *attacher, struct error *error)
{
    return error_set(error, ERROR_IO, "the process that attaches (%s, %d) was killed.",
                     THREADS_STOPPER, (int)attacher->pid);
}

static bool is_done(bool answered, const struct attacher *attacher, const struct answer *answer,
                    struct error *error)
{
    if (!answered)
        return was_killed(attacher, error);
    *error = answer->error;
    return error->code == ERROR_NONE;
}

bool attacher_take_over(struct attacher *attacher, pid_t pid, struct error *error)
{
    struct answer answer = {0};
    return is_done(ask(attacher, TAKE_OVER, pid, &answer), attacher, &answer, error);
}

bool attacher_hold(struct attacher *attacher, pid_t pid, bool follows_exec, struct error *error)
{
    struct answer answer = {0};
    enum what what = follows_exec ? HOLD_THROUGH_EXECS : HOLD;
    return is_done(ask(attacher, what, pid, &answer), attacher, &answer, error);
}

bool attacher_runs_to_exec(struct attacher *attacher, struct error *error)
{
    struct answer answer = {0};
    return is_done(read_answer(attacher, REACHED, &answer), attacher, &answer, error);
}

enum attacher_report attacher_report(struct attacher *attacher)
{
    struct pollfd waited_for = {.fd = attacher->line, .events = POLLIN};
    struct answer answer = {0};
    if (!attacher->pid || poll(&waited_for, 1, 0) <= 0)
        return ATTACHER_SILENT;
    if (read_answer(attacher, REACHED, &answer))
        return ATTACHER_REACHED;
    /* Its socket is closed before its tracees are let go. */
    siginfo_t end;
    while (waitid(P_PID, (id_t)attacher->pid, &end, WEXITED | WNOWAIT) != 0 && errno == EINTR)
        ;
    return ATTACHER_KILLED;
}

unsigned attacher_release_all(struct attacher *attacher, const struct translator_arena *arena,
                              const struct runtime_image *image)
{
    struct answer answer = {0};
    if (!attacher->pid)
        return 0;
    if (!ask(attacher, RELEASE_ALL, 0, &answer))
        answer.left = release_all(arena, image, PATIENCE_MS);
    close(attacher->line);
    child_wait(attacher->pid);
    *attacher = (struct attacher){0};
    return answer.left;
}
