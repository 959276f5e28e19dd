/* Stands in for a traced process that executes programs: asks the recorder as the runtime does
 * (struct tr_request), natively.
 *
 *     requesting_program ARENA ACTION PROGRAM ARGUMENTS
 *
 * Actions: `exec` from the main thread, `thread` from another, `missing` after the execution of what
 * is not there, `namespace` in a pid namespace of its own, `stop` when stopped and continued
 * meanwhile, `stranger` with a cookie that is not there: these become the program. `vfork` and `fork`
 * run it, many times, and end with status 0 when it always ended with 42.
 */
#include "runtime/translator/layout.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <x86intrin.h>

enum { PROGRAM_STATUS = 42, REFUSED = 43, GAVE_UP = 44, ROUNDS_OF_PATIENCE = 10 };
enum { PROCESSES = 8, RUNS = 25 };

static struct tr_control *control;
static bool stranger, stop_meanwhile;

static void wake(_Atomic uint32_t *word)
{
    syscall(SYS_futex, word, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

static void announce(void)
{
    atomic_fetch_add(&control->requested, 1);
    wake(&control->requested);
}

/* False when nobody answers. */
static bool wait_while(_Atomic uint32_t *word, uint32_t value)
{
    struct timespec tenth = {.tv_nsec = 100 * 1000 * 1000};
    uint32_t heartbeat = atomic_load(&control->heartbeat);
    for (int rounds = 0; atomic_load(word) == value && rounds < ROUNDS_OF_PATIENCE; rounds++) {
        syscall(SYS_futex, word, FUTEX_WAIT, value, &tenth, NULL, 0);
        if (heartbeat != atomic_load(&control->heartbeat))
            rounds = 0;
        heartbeat = atomic_load(&control->heartbeat);
    }
    return atomic_load(word) != value;
}

static struct tr_request *take(void)
{
    for (;;)
        for (uint32_t i = 0; i < TR_REQUESTS; i++) {
            uint32_t free = TR_REQUEST_FREE;
            if (atomic_compare_exchange_strong(&control->requests[i].state, &free,
                                               TR_REQUEST_TAKEN))
                return &control->requests[i];
        }
}

static struct tr_request *ask(volatile uint64_t *cookie)
{
    struct tr_request *request = take();
    *cookie = __rdtsc();
    request->pid = (uint32_t)getpid();
    request->tid = (uint32_t)gettid();
    request->time = *cookie + stranger;
    request->cookie_address = (uint64_t)cookie;
    request->nonce_address = (uint64_t)&request->nonce;
    atomic_store(&request->state, TR_REQUEST_MADE);
    announce();
    return request;
}

/* Returns when the execution failed, with errno. */
static void execute(char **arguments)
{
    volatile uint64_t cookie;
    struct tr_request *request = ask(&cookie);
    if (!wait_while(&request->state, TR_REQUEST_MADE))
        _exit(GAVE_UP);
    if (atomic_load(&request->state) == TR_REQUEST_REFUSED) {
        atomic_store(&request->state, TR_REQUEST_FREE);
        _exit(REFUSED);
    }
    if (stop_meanwhile)
        raise(SIGSTOP);
    execv(arguments[0], arguments);
    int reason = errno;
    atomic_store(&request->state, TR_REQUEST_FAILED);
    announce();
    if (!wait_while(&request->state, TR_REQUEST_FAILED))
        _exit(GAVE_UP);
    errno = reason;
}

static void *execute_in_thread(void *arguments)
{
    execute(arguments);
    _exit(1);
}

static void execute_missing(char **arguments)
{
    execute((char *[]){"/no/such/program", NULL});
    if (errno != ENOENT)
        _exit(1);
}

/* The program's status. */
static int run_by_vfork(char **arguments)
{
    int status;
    pid_t child = vfork();
    if (child == 0) {
        execute(arguments);
        _exit(1);
    }
    return waitpid(child, &status, 0) == child && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static int run_often(char **arguments, int runs)
{
    for (int i = 0; i < runs; i++)
        if (run_by_vfork(arguments) != PROGRAM_STATUS)
            return 1;
    return 0;
}

static int run_in_parallel(char **arguments)
{
    int result = 0, status;
    for (int i = 0; i < PROCESSES; i++)
        if (fork() == 0)
            _exit(run_often(arguments, RUNS));
    while (wait(&status) > 0)
        result |= status;
    return result != 0;
}

static int run_in_namespace(char **arguments)
{
    int status;
    if (unshare(CLONE_NEWPID) != 0)
        return 1;
    pid_t child = fork();
    if (child == 0) {
        execute(arguments);
        _exit(1);
    }
    return waitpid(child, &status, 0) == child && WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

static int become(const char *action, char **arguments)
{
    pthread_t thread;
    if (strcmp(action, "thread") == 0) {
        pthread_create(&thread, NULL, execute_in_thread, arguments);
        pthread_join(thread, NULL);
        return 1;
    }
    if (strcmp(action, "missing") == 0)
        execute_missing(arguments);
    stranger = strcmp(action, "stranger") == 0;
    stop_meanwhile = strcmp(action, "stop") == 0;
    execute(arguments);
    return 1;
}

int main(int argc, char **argv)
{
    int descriptor = argc > 3 ? open(argv[1], O_RDWR | O_CLOEXEC) : -1;
    control = mmap(NULL, sizeof *control, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
    if (control == MAP_FAILED)
        return 1;
    if (strcmp(argv[2], "vfork") == 0)
        return run_often(argv + 3, RUNS);
    if (strcmp(argv[2], "fork") == 0)
        return run_in_parallel(argv + 3);
    if (strcmp(argv[2], "namespace") == 0)
        return run_in_namespace(argv + 3);
    return become(argv[2], argv + 3);
}
