/* Threads that write code to the same pages at the same time, run it, and write again, as just-in-time compilers do, while
 * a recorder attaches and lets go. `code_writers ROUNDS THREADS [forget]` prints one line per mistake, and, after so many rounds
 * or at SIGINT, "done".
 *
 * A fault is a mistake: all pages are writable and executable. Every second thread blocks all signals, so that one ends
 * the program. Every fourth write is made by the kernel, and must succeed. With `forget` another thread calls madvise
 * for the same pages all the time, in a way that changes nothing.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum {
    PAGE = 4096,
    PAGES = 128,
    SLOT = 64, /* bytes of a page that are one thread's */
    VISITS =
        2, /* writes of a thread to a page in a round, after which all pages are mapped again */
    MOST_THREADS = PAGE / SLOT,
};

static uint8_t *code;
static pthread_barrier_t barrier;
static _Atomic int ends, leaves;
static _Atomic unsigned long mistakes;
static unsigned long rounds;

static void end(int signal)
{
    (void)signal;
    ends = 1;
}

static void mistake(const char *what, const void *where)
{
    atomic_fetch_add(&mistakes, 1);
    printf("mistake: %s at page %td\n", what, ((const uint8_t *)where - code) / PAGE);
    fflush(stdout);
}

static void fault(int signal, siginfo_t *info, void *context)
{
    (void)signal;
    (void)context;
    mistake("fault", info->si_addr);
    _exit(1);
}

static void map_again(void)
{
    if (mmap(code, PAGES * PAGE, PROT_READ | PROT_WRITE | PROT_EXEC,
             MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == MAP_FAILED)
        mistake("mmap", code);
}

/* mov eax, number; ret: by one store, or by the kernel. */
static void write_function(uint8_t *at, uint32_t number, int line[2])
{
    uint64_t bytes = 0xb8 | (uint64_t)number << 8 | UINT64_C(0xc3) << 40;
    if (number % 4)
        *(volatile uint64_t *)at = bytes;
    else if (write(line[1], &bytes, sizeof bytes) != sizeof bytes ||
             read(line[0], at, sizeof bytes) != sizeof bytes)
        mistake("read", at);
}

static void visit_all(size_t own, uint32_t *number, int line[2])
{
    for (size_t page = 0; page < PAGES; page++) {
        uint8_t *at = code + page * PAGE + own * SLOT;
        for (int i = 0; i < VISITS; i++) {
            write_function(at, ++*number, line);
            if (((uint32_t(*)(void))(uintptr_t)at)() != *number)
                mistake("old code", at);
        }
    }
}

static void *run(void *argument)
{
    size_t own = (size_t)argument;
    uint32_t number = 0;
    int line[2];
    sigset_t all;
    sigfillset(&all);
    if (own % 2)
        pthread_sigmask(SIG_SETMASK, &all, NULL);
    if (pipe(line) != 0)
        mistake("pipe", code);
    while (!leaves) {
        visit_all(own, &number, line);
        pthread_barrier_wait(&barrier);
        if (own == 0) {
            map_again();
            leaves = ends || --rounds == 0;
        }
        pthread_barrier_wait(&barrier);
    }
    return NULL;
}

static void *forget(void *argument)
{
    (void)argument;
    for (unsigned i = 0; !ends; i++) {
        uint8_t *at = code + i % (PAGES / 8) * 8 * PAGE;
        madvise(at, 8 * PAGE, MADV_DONTFORK);
        madvise(at, 8 * PAGE, MADV_DOFORK);
    }
    return NULL;
}

int main(int count, char **words)
{
    struct sigaction on_end = {.sa_handler = end},
                     on_fault = {.sa_sigaction = fault, .sa_flags = SA_SIGINFO};
    size_t threads = count > 2 ? (size_t)atoi(words[2]) : 4;
    pthread_t id[MOST_THREADS], forgetting;
    rounds = count > 1 ? strtoul(words[1], NULL, 10) : 1;
    if (threads > MOST_THREADS)
        return 2;
    sigaction(SIGINT, &on_end, NULL);
    sigaction(SIGSEGV, &on_fault, NULL);
    code = mmap(NULL, PAGES * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    map_again();
    pthread_barrier_init(&barrier, NULL, (unsigned)threads);
    printf("ready\n");
    fflush(stdout);
    for (size_t i = 0; i < threads; i++)
        pthread_create(&id[i], NULL, run, (void *)i);
    if (count > 3)
        pthread_create(&forgetting, NULL, forget, NULL);
    for (size_t i = 0; i < threads; i++)
        pthread_join(id[i], NULL);
    ends = 1;
    if (count > 3)
        pthread_join(forgetting, NULL);
    printf("done: %lu mistakes\n", mistakes);
    return mistakes ? 1 : 0;
}
