/* A program that would notice if a recorder attached to it and let it go: threads that sleep in every kind of system
 * call, compute, and handle signals, and check what they see.
 * `attached SECONDS THREADS` prints one line per mistake, and, after so long or at SIGINT, "done" with what its threads have
 * done; THREADS of them do nothing but sleep.
 *
 * A wait that ends early, with EINTR, or with a wrong result is a mistake, as are a changed signal mask, alternate stack
 * or disposition, and vector registers or counters that differ.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <immintrin.h>
#include <linux/futex.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static _Atomic unsigned long rounds[16], mistakes;
static _Atomic int ends, futex_word;
static _Atomic unsigned long alarms;
static int pair[2], epoll;

static void end(int signal)
{
    (void)signal;
    ends = 1;
}

static void mistake(const char *what, long value)
{
    atomic_fetch_add(&mistakes, 1);
    printf("mistake: %s %ld (%s)\n", what, value, strerror(errno));
    fflush(stdout);
}

static uint64_t now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

/* ---- waits with a timeout: never early, never EINTR ---- */

enum { WAIT_MS = 20 };

static int by_nanosleep(void)
{
    struct timespec time = {.tv_nsec = WAIT_MS * 1000000};
    return nanosleep(&time, NULL);
}

static int by_poll(void)
{
    return poll(NULL, 0, WAIT_MS);
}

static int by_select(void)
{
    struct timeval time = {.tv_usec = WAIT_MS * 1000};
    return select(0, NULL, NULL, NULL, &time);
}

static int by_ppoll(void)
{
    struct timespec time = {.tv_nsec = WAIT_MS * 1000000};
    sigset_t blocked;
    sigemptyset(&blocked);
    sigaddset(&blocked, SIGINT);
    return ppoll(NULL, 0, &time, &blocked);
}

/* EINTR is no mistake here: the kernel keeps an ignored SIGCHLD for a thread that blocks it, as the runtime and some C libraries do
 * while they make a child, and wakes another thread for it (docs/translator.md, "What a program could notice"). */
static int by_epoll(void)
{
    struct epoll_event event;
    int result;
    do
        result = epoll_wait(epoll, &event, 1, WAIT_MS);
    while (result < 0 && errno == EINTR);
    return result;
}

static int by_futex(void)
{
    static _Thread_local int word;
    struct timespec time = {.tv_nsec = WAIT_MS * 1000000};
    long result = syscall(SYS_futex, &word, FUTEX_WAIT, 0, &time, NULL, 0);
    return result == -1 && errno == ETIMEDOUT ? 0 : -1;
}

static int by_clock_nanosleep(void)
{
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_nsec += WAIT_MS * 1000000;
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    return clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL);
}

static const struct wait {
    const char *name;
    int (*make)(void);
} waits[] = {
    {"nanosleep", by_nanosleep},
    {"poll", by_poll},
    {"select", by_select},
    {"ppoll", by_ppoll},
    {"epoll", by_epoll},
    {"futex", by_futex},
    {"clock_nanosleep", by_clock_nanosleep},
};
enum { WAITS = sizeof waits / sizeof *waits };

static void *waiting(void *argument)
{
    for (size_t i = (size_t)argument; !ends; i++) {
        const struct wait *wait = &waits[i % WAITS];
        uint64_t before = now();
        if (wait->make() != 0)
            mistake(wait->name, -1);
        uint64_t passed = now() - before;
        if (passed < (uint64_t)(WAIT_MS - 1) * 1000000)
            mistake(wait->name, (long)passed);
        rounds[0]++;
    }
    return NULL;
}

/* ---- waits for other threads ---- */

static void *sleeping(void *argument)
{
    (void)argument;
    while (!ends) {
        int seen = futex_word;
        if (!ends && syscall(SYS_futex, &futex_word, FUTEX_WAIT, seen, NULL, NULL, 0) != 0 &&
            errno != EAGAIN)
            mistake("futex without a timeout", errno);
    }
    return NULL;
}

static void wake(int signal)
{
    (void)signal;
}

/* For hours: until the end, when SIGUSR2 wakes it. */
static void *sleeping_for_long(void *argument)
{
    struct timespec time = {.tv_sec = 100000};
    sigset_t set;
    (void)argument;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR2);
    pthread_sigmask(SIG_UNBLOCK, &set, NULL);
    if (nanosleep(&time, NULL) == 0 || !ends)
        mistake("long nanosleep", errno);
    return NULL;
}

static void *reading(void *argument)
{
    (void)argument;
    char byte;
    while (read(pair[0], &byte, 1) == 1 && byte != 'q')
        rounds[1]++;
    if (byte != 'q')
        mistake("read", errno);
    return NULL;
}

static void *writing(void *argument)
{
    (void)argument;
    while (!ends) {
        if (write(pair[1], "x", 1) != 1)
            mistake("write", errno);
        futex_word++;
        usleep(500);
    }
    return NULL;
}

/* ---- computing ---- */

static uint64_t step(uint64_t value)
{
    return value * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
}

/* The first round's result is the others' as well. */
static void *computing(void *argument)
{
    uint64_t expected = 0;
    (void)argument;
    const __m128i vector = _mm_set_epi64x(INT64_C(0x1122334455667788), 0x0102030405060708);
    while (!ends) {
        uint64_t value = 1;
        __m128i sum = _mm_setzero_si128();
        for (int i = 0; i < 200000; i++) {
            value = step(value);
            sum = _mm_add_epi64(sum, vector);
        }
        if (expected == 0)
            expected = value;
        if (value != expected)
            mistake("computation", (long)value);
        if ((uint64_t)_mm_cvtsi128_si64(sum) != UINT64_C(0x0102030405060708) * 200000)
            mistake("vector computation", _mm_cvtsi128_si64(sum));
        rounds[2]++;
    }
    return NULL;
}

/* ---- signals ---- */

static void count_alarm(int signal, siginfo_t *info, void *context)
{
    stack_t stack;
    (void)info;
    (void)context;
    int before = errno;
    if (sigaltstack(NULL, &stack) != 0 || !(stack.ss_flags & SS_ONSTACK))
        mistake("handler is not on its alternate stack", stack.ss_flags);
    if (signal != SIGUSR1)
        mistake("signal", signal);
    uint64_t value = 1;
    for (int i = 0; i < 2000; i++)
        value = step(value);
    alarms++;
    errno = before;
}

static void *signalled(void *argument)
{
    stack_t stack = {.ss_sp = malloc(64 << 10), .ss_size = 64 << 10}, now_set;
    sigset_t set;
    (void)argument;
    sigaltstack(&stack, NULL);
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    pthread_sigmask(SIG_UNBLOCK, &set, NULL);
    while (!ends) {
        unsigned long before = alarms;
        if (syscall(SYS_tgkill, getpid(), gettid(), SIGUSR1) != 0 || alarms != before + 1)
            mistake("a signal to itself", (long)(alarms - before));
        sigset_t mask;
        pthread_sigmask(SIG_SETMASK, NULL, &mask);
        if (sigismember(&mask, SIGUSR1) || !sigismember(&mask, SIGUSR2))
            mistake("mask", 0);
        if (sigaltstack(NULL, &now_set) != 0 || now_set.ss_sp != stack.ss_sp ||
            now_set.ss_size != stack.ss_size || now_set.ss_flags != 0)
            mistake("alternate stack", now_set.ss_flags);
        rounds[3]++;
    }
    return NULL;
}

/* ---- threads and processes that come and go ---- */

static void *short_lived(void *argument)
{
    return argument;
}

static void *creating(void *argument)
{
    (void)argument;
    while (!ends) {
        pthread_t thread;
        void *result = NULL;
        if (pthread_create(&thread, NULL, short_lived, (void *)&rounds) != 0 ||
            pthread_join(thread, &result) != 0 || result != (void *)&rounds)
            mistake("thread", errno);
        if (rounds[4] % 16 == 0) {
            int status;
            pid_t child = rounds[4] % 32 ? fork() : vfork();
            if (child == 0)
                _exit(7);
            if (waitpid(child, &status, 0) != child || WEXITSTATUS(status) != 7)
                mistake("child", status);
        }
        rounds[4]++;
        usleep(200);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    int seconds = argc > 1 ? atoi(argv[1]) : 2, sleepers = argc > 2 ? atoi(argv[2]) : 8;
    static void *(*const works[])(void *) = {reading, writing, computing, signalled, creating};
    enum { WORKS = sizeof works / sizeof *works };
    pthread_t for_long, threads[WAITS + WORKS],
        *asleep = calloc((size_t)sleepers + 1, sizeof *asleep);
    struct sigaction action = {.sa_sigaction = count_alarm, .sa_flags = SA_SIGINFO | SA_ONSTACK};
    sigset_t blocked;
    sigemptyset(&blocked);
    sigaddset(&blocked, SIGUSR1);
    sigaddset(&blocked, SIGUSR2);
    sigaddset(&blocked, SIGINT); /* it would interrupt another thread's wait */
    pthread_sigmask(SIG_BLOCK, &blocked, NULL);
    sigaction(SIGUSR1, &action, NULL);
    signal(SIGINT, end);
    signal(SIGUSR2, wake);
    epoll = epoll_create1(0);
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) != 0)
        return 1;
    for (size_t i = 0; i < WAITS; i++)
        pthread_create(&threads[i], NULL, waiting, (void *)i);
    for (size_t i = 0; i < WORKS; i++)
        pthread_create(&threads[WAITS + i], NULL, works[i], NULL);
    pthread_create(&for_long, NULL, sleeping_for_long, NULL);
    pthread_attr_t small;
    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, 64 << 10);
    for (int i = 0; i < sleepers; i++)
        pthread_create(&asleep[i], &small, sleeping, NULL);
    sigset_t interrupt;
    sigemptyset(&interrupt);
    sigaddset(&interrupt, SIGINT);
    pthread_sigmask(SIG_UNBLOCK, &interrupt, NULL);
    printf("ready %d\n", (int)getpid());
    fflush(stdout);
    for (uint64_t until = now() + (uint64_t)seconds * 1000000000; now() < until && !ends;)
        usleep(10000);
    ends = 1;
    pthread_kill(for_long, SIGUSR2);
    pthread_join(for_long, NULL);
    for (size_t i = 1; i < WAITS + WORKS; i++)
        if (i != WAITS)
            pthread_join(threads[i], NULL);
    pthread_join(threads[0], NULL);
    futex_word++;
    syscall(SYS_futex, &futex_word, FUTEX_WAKE, INT32_MAX, NULL, NULL, 0);
    for (int i = 0; i < sleepers; i++) {
        futex_word++;
        syscall(SYS_futex, &futex_word, FUTEX_WAKE, INT32_MAX, NULL, NULL, 0);
        pthread_join(asleep[i], NULL);
    }
    if (write(pair[1], "q", 1) != 1)
        mistake("last write", errno);
    pthread_join(threads[WAITS], NULL);
    printf("done %lu %lu %lu %lu %lu\n", rounds[0], rounds[1], rounds[2], rounds[3], rounds[4]);
    return mistakes != 0;
}
