/* Handlers that fork: both processes return from the handler, into the same frames. */
/* truth: -O0 -g; -O2; -O2 -static; strip -O2 */
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

enum { FORKS = 6 };

static volatile pid_t child;
static volatile int collected;

__attribute__((noinline)) static int work(int level)
{
    volatile int here = level;
    return level == 0 ? 0 : work(level - 1) + (here == level);
}

static void split(int number)
{
    (void)number;
    child = fork();
    work(child == 0 ? 4 : 2);
}

static void collect(int number)
{
    (void)number;
    int status;
    while (waitpid(-1, &status, WNOHANG) > 0)
        collected += WIFEXITED(status) && WEXITSTATUS(status) == 7;
}

__attribute__((noinline)) static int dive(int depth)
{
    volatile int here = depth;
    if (depth > 0)
        return dive(depth - 1) + (here == depth);
    raise(SIGUSR1);
    return 0;
}

int main(void)
{
    struct sigaction forks = {.sa_handler = split}, ends = {.sa_handler = collect};
    sigset_t chld, none;
    sigemptyset(&none);
    sigemptyset(&chld);
    sigaddset(&chld, SIGCHLD);
    sigaction(SIGUSR1, &forks, NULL);
    sigaction(SIGCHLD, &ends, NULL);
    sigprocmask(SIG_BLOCK, &chld, NULL);
    for (int i = 0; i < FORKS; i++) {
        int deep = dive(i);
        if (child == 0)
            _exit(deep == i ? 7 : 1);
        while (collected <= i)
            sigsuspend(&none);
    }
    printf("collected %d\n", collected);
    return collected == FORKS ? 0 : 1;
}
