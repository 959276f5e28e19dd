/* Threads that wait in epoll_wait beside threads whose children end: a program that ignores SIGCHLD, as most do by default, and
 * would notice a recorder that makes the kernel keep the signal, which wakes any of its threads.
 * `waits_and_children WAITERS PARENTS` runs until SIGINT and then prints "done" with how many waits and children there were. The
 * exit status is 1 when a wait ended early; each such prints a line.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/wait.h>
#include <unistd.h>

enum { WAIT_MS = 3, MOST_CHILD_US = 2000 };

static _Atomic unsigned long waits, children, mistakes;
static _Atomic int ends;

static void end(int signal)
{
    (void)signal;
    ends = 1;
}

static void mistake(const char *what)
{
    mistakes++;
    printf("mistake: %s (%s)\n", what, strerror(errno));
    fflush(stdout);
}

static void *waiting(void *argument)
{
    int *epoll = argument;
    struct epoll_event event;
    while (!ends) {
        if (epoll_wait(*epoll, &event, 1, WAIT_MS) != 0)
            mistake("epoll_wait");
        waits++;
    }
    return NULL;
}

static void *having_children(void *argument)
{
    unsigned seed = (unsigned)(size_t)argument;
    while (!ends) {
        int status;
        useconds_t life = (useconds_t)(rand_r(&seed) % MOST_CHILD_US);
        pid_t child = fork();
        if (child == 0) {
            usleep(life);
            _exit(7);
        }
        if (waitpid(child, &status, 0) != child || WEXITSTATUS(status) != 7)
            mistake("waitpid");
        children++;
    }
    return NULL;
}

int main(int argc, char **argv)
{
    int waiters = argc > 1 ? atoi(argv[1]) : 8, parents = argc > 2 ? atoi(argv[2]) : 4;
    int epoll = epoll_create1(0);
    pthread_t *threads = calloc((size_t)(waiters + parents), sizeof *threads);
    sigset_t interrupt;
    sigemptyset(&interrupt);
    sigaddset(&interrupt, SIGINT); /* it would interrupt another thread's wait */
    pthread_sigmask(SIG_BLOCK, &interrupt, NULL);
    signal(SIGINT, end);
    for (int i = 0; i < waiters + parents; i++)
        pthread_create(&threads[i], NULL, i < waiters ? waiting : having_children,
                       i < waiters ? (void *)&epoll : (void *)(size_t)(i + 1));
    pthread_sigmask(SIG_UNBLOCK, &interrupt, NULL);
    printf("ready %d\n", (int)getpid());
    fflush(stdout);
    while (!ends)
        usleep(10000);
    for (int i = 0; i < waiters + parents; i++)
        pthread_join(threads[i], NULL);
    printf("done %lu %lu\n", waits, children);
    return mistakes != 0;
}
