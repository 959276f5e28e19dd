#include "engine/translator/exec_requests.h"

#include "engine/translator/inject/inject.h"
#include "engine/translator/inject/installed_filters.h"
#include "engine/translator/inject/pass_descriptor.h"
#include "engine/translator/inject/requesting_thread.h"
#include "engine/translator/transcode/recorder_log.h"
#include "process/processes.h"

#include <errno.h>
#include <limits.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { HEARTBEAT_NS = 100 * 1000 * 1000 };

/* A thread that we are the tracer of, until its execve. */
struct followed {
    struct thread_number thread;
    uint32_t number;  /* of the process, as it knows it itself */
    uint32_t request; /* index */
    bool letting_go;  /* it is to be detached at its next stop */
};

/* A program that was let go in the loader. */
struct started {
    pid_t pid;
    uint32_t number;           /* as it knows it itself */
    uint32_t slot, generation; /* how often the slot was used before */
    uint32_t heartbeat;        /* when it was let go */
    char name[16];
};

/* ---- requests ---- */

static void futex_wake(_Atomic uint32_t *word)
{
    syscall(SYS_futex, word, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

static struct tr_request *request_at(const struct exec_requests *requests, uint32_t index)
{
    return &requests->arena->control->requests[index];
}

/* False when the process has changed it meanwhile. */
static bool answer(struct tr_request *request, uint32_t answered)
{
    uint32_t made = TR_REQUEST_MADE;
    bool ok = atomic_compare_exchange_strong(&request->state, &made, answered);
    futex_wake(&request->state);
    return ok;
}

static void free_request(const struct exec_requests *requests, uint32_t index)
{
    struct tr_request *request = request_at(requests, index);
    atomic_store(&request->state, TR_REQUEST_FREE);
    futex_wake(&request->state);
}

/* Processes see at once, in tr_control.recorder, that the calling thread was killed. */
static void register_life(struct exec_requests *requests)
{
    struct tr_control *control = requests->arena->control;
    requests->entry.next = &requests->robust.list;
    requests->robust = (struct robust_list_head){
        .list.next = &requests->entry,
        .futex_offset = (char *)&control->recorder - (char *)&requests->entry,
    };
    atomic_store(&control->recorder, (uint32_t)gettid());
    syscall(SYS_set_robust_list, &requests->robust, sizeof requests->robust);
}

/* The request of a process that was killed while it asked is still there. A process that is only slow finds out that it
 * is no longer its own. */
static void reclaim_requests(struct exec_requests *requests)
{
    enum { IDLE = 20 };
    for (uint32_t i = 0; i < TR_REQUESTS; i++) {
        struct tr_request *request = request_at(requests, i);
        uint32_t state = atomic_load(&request->state);
        if (state != TR_REQUEST_TAKEN && state != TR_REQUEST_REFUSED)
            requests->idle[i] = 0;
        else if (++requests->idle[i] > IDLE && kill((pid_t)request->pid, 0) != 0 && errno == ESRCH)
            atomic_compare_exchange_strong(&request->state, &state, TR_REQUEST_FREE);
    }
}

/* A thread of its own, because poll(2) cannot wait for a futex. */
static void *wait_for_requests(void *context)
{
    struct exec_requests *requests = context;
    struct tr_control *control = requests->arena->control;
    const struct timespec interval = {.tv_nsec = HEARTBEAT_NS};
    uint32_t seen = requests->seen;
    register_life(requests);
    while (!atomic_load(&requests->stop)) {
        long waited = syscall(SYS_futex, &control->requested, FUTEX_WAIT, seen, &interval, NULL, 0);
        if (waited != 0 && errno == ETIMEDOUT)
            reclaim_requests(requests);
        uint32_t now = atomic_load(&control->requested);
        if (now != seen || atomic_load(&requests->unconfirmed) > 0)
            eventfd_write(requests->descriptor, 1);
        seen = now;
        atomic_fetch_add(&control->heartbeat, 1);
    }
    return NULL;
}

/* ---- beginning to follow ---- */

static struct followed *find(const struct exec_requests *requests, pid_t tid)
{
    for (size_t i = 0; i < requests->followed.count; i++) {
        struct followed *followed = array_at(&requests->followed, i);
        if (followed->thread.tid == tid)
            return followed;
    }
    return NULL;
}

static void forget(struct exec_requests *requests, struct followed *followed)
{
    free_request(requests, followed->request);
    *followed = *(struct followed *)array_at(&requests->followed, --requests->followed.count);
}

/* False: it was killed meanwhile. It is followed until its end, of which its parent does not learn before its tracer
 * has. */
static bool detach(struct exec_requests *requests, struct followed *followed, int signal)
{
    if (ptrace(PTRACE_DETACH, followed->thread.tid, NULL, (void *)(long)signal) != 0 &&
        errno == ESRCH)
        return false;
    forget(requests, followed);
    return true;
}

/* It waits in the runtime for what comes of its request, where a stop does no harm. */
static void let_go(struct followed *followed)
{
    if (!followed->letting_go)
        ptrace(PTRACE_INTERRUPT, followed->thread.tid, NULL, NULL);
    followed->letting_go = true;
}

static bool attach(struct exec_requests *requests, uint32_t index)
{
    struct tr_request *request = request_at(requests, index);
    struct followed followed = {.number = request->pid, .request = index};
    if (atomic_load(&requests->arena->control->frozen) ||
        !requesting_thread_find(&followed.thread, request) || find(requests, followed.thread.tid) ||
        ptrace(PTRACE_SEIZE, followed.thread.tid, NULL, (void *)PTRACE_O_TRACEEXEC) != 0)
        return false;
    array_add_all(&requests->followed, &followed, 1);
    return true;
}

static void grant(struct exec_requests *requests, uint32_t index)
{
    struct tr_request *request = request_at(requests, index);
    if (!attach(requests, index))
        answer(request, TR_REQUEST_REFUSED);
    else if (!answer(request, TR_REQUEST_GRANTED))
        let_go(array_at(&requests->followed, requests->followed.count - 1));
}

static void exec_failed(struct exec_requests *requests, uint32_t index)
{
    for (size_t i = 0; i < requests->followed.count; i++) {
        struct followed *followed = array_at(&requests->followed, i);
        if (followed->request == index) {
            let_go(followed);
            return;
        }
    }
    free_request(requests, index);
}

static void serve_requests(struct exec_requests *requests)
{
    for (uint32_t i = 0; i < TR_REQUESTS; i++) {
        uint32_t state = atomic_load(&request_at(requests, i)->state);
        if (state == TR_REQUEST_MADE)
            grant(requests, i);
        else if (state == TR_REQUEST_FAILED)
            exec_failed(requests, i);
    }
}

/* ---- new programs ---- */

/* The process is stopped: it goes on natively. */
static void run_untraced(struct exec_requests *requests, struct followed *followed,
                         const char *cause)
{
    uint32_t number = followed->number;
    char name[16];
    process_name(followed->thread.tid, name, sizeof name);
    if (detach(requests, followed, 0))
        recorder_log_untraced(requests->arena, number, name, cause);
}

/* About to be let go. */
static struct started describe_started(const struct exec_requests *requests,
                                       const struct followed *followed, uint32_t slot)
{
    struct started started = {
        .pid = followed->thread.tid,
        .number = followed->number,
        .slot = slot,
        .generation = translator_arena_generation(requests->arena, slot),
        .heartbeat = atomic_load(&requests->arena->control->heartbeat),
    };
    process_name(started.pid, started.name, sizeof started.name);
    return started;
}

static void add_started(struct exec_requests *requests, const struct started *started)
{
    array_add_all(&requests->started, started, 1);
    atomic_store(&requests->unconfirmed, requests->started.count);
}

static bool reserve(struct translator_arena *arena, struct tr_start *start)
{
    if (!translator_arena_reserve_table(arena, &start->table))
        return false;
    if (translator_arena_reserve_slot(arena, &start->slot))
        return true;
    translator_arena_release_table(arena, start->table);
    return false;
}

/* What runs as another user, or in another root directory, cannot open it. A seccomp filter might end the process for the
 * calls of passing a descriptor. */
static bool give_arena(const struct translator_arena *arena, pid_t pid, struct injection *injection,
                       struct error *error)
{
    struct error passing;
    return inject_can_open(pid, arena->path, error) ||
           (installed_seccomp_mode(pid) == SECCOMP_MODE_DISABLED &&
            pass_descriptor_at_exec(pid, arena->descriptor, &injection->arena_file, &passing));
}

static bool let_begin(struct exec_requests *requests, struct followed *followed,
                      struct injection *injection, struct error *error)
{
    struct started started = describe_started(requests, followed, injection->start.slot);
    seen_files_add(requests->files, started.number, started.pid);
    if (!inject_has_space(started.pid, injection->arena_size, error) ||
        !give_arena(requests->arena, started.pid, injection, error) ||
        !inject(started.pid, injection, error)) {
        translator_arena_release_slot(requests->arena, injection->start.slot);
        translator_arena_release_table(requests->arena, injection->start.table);
        return false;
    }
    add_started(requests, &started);
    return true;
}

/* At its exec stop. */
static void load(struct exec_requests *requests, struct followed *followed)
{
    struct translator_arena *arena = requests->arena;
    struct error error = {0};
    struct injection injection = {
        .arena = arena->path,
        .arena_file = -1,
        .arena_size = arena->size,
        .open_size = arena->geometry.log_offset + arena->geometry.log_size,
        .image = requests->image,
        .start = {.slot = UINT32_MAX,
                  .pid = (uint32_t)followed->thread.tid,
                  .execed = true,
                  .exec_time = translator_arena_now(arena)},
    };
    translator_arena_executed(arena, followed->number);
    if (atomic_load(&arena->control->frozen)) {
        detach(requests, followed, 0);
    } else if (!reserve(arena, &injection.start)) {
        run_untraced(requests, followed, "the recording has no place for another program");
    } else if (!let_begin(requests, followed, &injection, &error)) {
        run_untraced(requests, followed, error.text);
    } else {
        forget(requests, followed);
    }
}

/* It may have ended before it answered, and not every cause is visible from outside. */
static const char *cause_of_silence(const struct exec_requests *requests,
                                    const struct started *started)
{
    if (kill(started->pid, 0) != 0)
        return "it ended without having loaded the translator";
    if (process_maps_file(started->pid, &requests->arena->file))
        return NULL;
    return "it could not load the translator (a seccomp filter, or no memory that is writable and "
           "executable)";
}

/* Whether all that can be learnt of it is known. */
static bool confirm(struct exec_requests *requests, const struct started *started)
{
    enum { PATIENCE = 10 };
    uint32_t heartbeat = atomic_load(&requests->arena->control->heartbeat);
    if (translator_arena_generation(requests->arena, started->slot) != started->generation ||
        translator_arena_slot(requests->arena, started->slot, NULL))
        return true;
    if (heartbeat - started->heartbeat < PATIENCE)
        return false;
    const char *cause = cause_of_silence(requests, started);
    if (cause)
        recorder_log_untraced(requests->arena, started->number, started->name, cause);
    if (kill(started->pid, 0) != 0 && errno == ESRCH)
        translator_arena_release_slot(requests->arena, started->slot);
    return true;
}

static void confirm_started(struct exec_requests *requests)
{
    for (size_t i = requests->started.count; i-- > 0;) {
        struct started *started = array_at(&requests->started, i);
        if (confirm(requests, started))
            *started = *(struct started *)array_at(&requests->started, --requests->started.count);
    }
    atomic_store(&requests->unconfirmed, requests->started.count);
}

/* ---- what followed threads do ---- */

/* Signals and stops pass through as without a tracer. */
static void stopped(struct exec_requests *requests, struct followed *followed, int status)
{
    int event = status >> 16, signal = event ? 0 : WSTOPSIG(status);
    if (event == PTRACE_EVENT_EXEC)
        load(requests, followed);
    else if (followed->letting_go)
        detach(requests, followed, signal);
    else if (event == PTRACE_EVENT_STOP && WSTOPSIG(status) != SIGTRAP)
        ptrace(PTRACE_LISTEN, followed->thread.tid, NULL, NULL);
    else
        ptrace(PTRACE_CONT, followed->thread.tid, NULL, (void *)(long)signal);
}

/* A thread that is gone may have taken its process's number, by execve; the thread that had that number before has
 * gone without a report, and was perhaps followed, too. */
static void rename_or_forget(struct exec_requests *requests, struct followed *followed)
{
    pid_t pid = followed->thread.pid;
    if (followed->thread.tid == pid || find(requests, pid))
        forget(requests, followed);
    else
        followed->thread.tid = pid;
}

/* What happened to the thread since the last call; si_pid is 0 when nothing did. Our own child's end is looked at but
 * not reaped: the code that started it does that. False: there is no such thread. (Stops of tracees are returned
 * whether WSTOPPED is given or not.) */
static bool next_event(const struct exec_requests *requests, pid_t tid, siginfo_t *event)
{
    int options = WSTOPPED | WEXITED | WNOHANG | __WALL;
    int peek = tid == requests->program ? WNOWAIT : 0;
    *event = (siginfo_t){0};
    if (waitid(P_PID, (id_t)tid, event, options | peek) != 0)
        return false;
    if (peek && event->si_pid != 0 && event->si_code == CLD_TRAPPED) {
        *event = (siginfo_t){0};
        waitid(P_PID, (id_t)tid, event, WSTOPPED | WNOHANG | __WALL);
    }
    return true;
}

/* False when nothing happened to the thread. */
static bool handle(struct exec_requests *requests, struct followed *followed)
{
    siginfo_t event;
    if (!next_event(requests, followed->thread.tid, &event)) {
        rename_or_forget(requests, followed);
        return true;
    }
    if (event.si_pid == 0)
        return false;
    if (event.si_code != CLD_TRAPPED)
        forget(requests, followed);
    else
        stopped(requests, followed, W_STOPCODE(event.si_status));
    return true;
}

void exec_requests_serve(struct exec_requests *requests)
{
    eventfd_t count;
    eventfd_read(requests->descriptor, &count);
    serve_requests(requests);
    for (size_t i = 0; i < requests->followed.count;)
        if (!handle(requests, array_at(&requests->followed, i)))
            i++;
    confirm_started(requests);
}

bool exec_requests_are_open(const struct exec_requests *requests)
{
    return requests->followed.count + requests->started.count > 0;
}

/* ---- beginning and end ---- */

static bool start_waiting(struct exec_requests *requests, struct error *error)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int failed = pthread_create(&requests->waiting, NULL, wait_for_requests, requests);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return !failed || error_set_errno(error, ERROR_IO, failed,
                                      "cannot start a thread that waits for what is executed");
}

bool exec_requests_begin(struct exec_requests *requests, struct translator_arena *arena,
                         const struct runtime_image *image, struct seen_files *files,
                         struct error *error)
{
    *requests = (struct exec_requests){.arena = arena,
                                       .image = image,
                                       .files = files,
                                       .followed = array_of(sizeof(struct followed)),
                                       .started = array_of(sizeof(struct started))};
    requests->seen = atomic_load(&arena->control->requested);
    requests->descriptor = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (requests->descriptor < 0)
        return error_set_errno(error, ERROR_IO, errno,
                               "cannot wait for what is executed (eventfd)");
    if (start_waiting(requests, error))
        return true;
    close(requests->descriptor);
    return false;
}

/* A thread that does not stop, because the disk with its new program does not answer, is left to the
 * kernel, which lets it go when magic-trace ends. */
static void let_all_go(struct exec_requests *requests)
{
    enum { ROUNDS = 5000 };
    const struct timespec millisecond = {.tv_nsec = 1000 * 1000};
    for (size_t i = 0; i < requests->followed.count; i++)
        let_go(array_at(&requests->followed, i));
    exec_requests_serve(requests);
    for (int round = 0; requests->followed.count > 0 && round < ROUNDS; round++) {
        nanosleep(&millisecond, NULL);
        exec_requests_serve(requests);
    }
}

/* Those that have begun to load the runtime, until they map the arena, by which they are found that are to be let go. One that ended before
 * is waited for, too: no longer than that takes. */
static void wait_for_started(struct exec_requests *requests)
{
    enum { ROUNDS = 1000 };
    const struct timespec millisecond = {.tv_nsec = 1000 * 1000};
    for (int round = 0; requests->started.count > 0 && round < ROUNDS; round++) {
        confirm_started(requests);
        nanosleep(&millisecond, NULL);
    }
}

void exec_requests_end(struct exec_requests *requests)
{
    struct tr_control *control = requests->arena->control;
    atomic_store(&requests->stop, true);
    atomic_store(&control->recorder_stopped, 1);
    atomic_fetch_add(&control->requested, 1);
    futex_wake(&control->requested);
    pthread_join(requests->waiting, NULL);
    let_all_go(requests);
    if (requests->arena->options.attached)
        wait_for_started(requests);
    close(requests->descriptor);
    array_free(&requests->followed);
    array_free(&requests->started);
}
