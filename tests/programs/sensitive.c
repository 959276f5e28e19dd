/* Notices what a tracer leaves in it: for tests that attach.
 *
 *     sensitive
 *
 * Its first thread calls `push_flags` and `pop_flags`; a second one waits in epoll_wait with every
 * signal blocked, and a third calls `work_deaf` so. At SIGTERM it says what was wrong.
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <time.h>

enum { TRAP_FLAG = 0x100 };

static atomic_int stop, flags, waits, masks;

static void end(int signal)
{
    stop = 1;
}

__attribute__((noinline)) static void push_flags(void)
{
    unsigned long pushed;
    __asm__ volatile("lea -128(%%rsp), %%rsp; pushfq; popq %0; lea 128(%%rsp), %%rsp"
                     : "=r"(pushed));
    flags += (pushed & TRAP_FLAG) != 0;
}

__attribute__((noinline)) static void pop_flags(void)
{
    __asm__ volatile("lea -128(%%rsp), %%rsp; pushfq; nop; popfq; lea 128(%%rsp), %%rsp" ::: "cc");
}

static void block_all(void)
{
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, NULL);
}

static void pause_a_little(void)
{
    struct timespec time = {.tv_nsec = 200000};
    nanosleep(&time, NULL);
}

static void *wait_for_events(void *unused)
{
    block_all();
    int events = epoll_create1(0);
    struct epoll_event event;
    while (!stop)
        waits += epoll_wait(events, &event, 1, 100) < 0;
    return NULL;
}

__attribute__((noinline)) static void work_deaf(void)
{
    sigset_t mask;
    pthread_sigmask(SIG_SETMASK, NULL, &mask);
    masks += !sigismember(&mask, SIGTRAP);
}

static void *be_deaf(void *unused)
{
    block_all();
    while (!stop) {
        work_deaf();
        pause_a_little();
    }
    /* A trap that was kept waiting would end the program now. */
    sigset_t none;
    sigemptyset(&none);
    pthread_sigmask(SIG_SETMASK, &none, NULL);
    return NULL;
}

int main(void)
{
    pthread_t waiting, deaf;
    signal(SIGTERM, end);
    pthread_create(&waiting, NULL, wait_for_events, NULL);
    pthread_create(&deaf, NULL, be_deaf, NULL);
    printf("ready\n");
    fflush(stdout);
    while (!stop) {
        push_flags();
        pop_flags();
        pause_a_little();
    }
    pthread_join(waiting, NULL);
    pthread_join(deaf, NULL);
    printf("%d trap flags, %d waits cut short, %d masks changed\n", flags, waits, masks);
    return 0;
}
