/* A handler that runs a program by vfork and exec, and waits for it. */
/* truth: -O0 -g; -O2; -O2 -static; strip -O2 */
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

enum { RUNS = 3 };

static volatile int ended;

__attribute__((noinline)) static int work(int level)
{
    volatile int here = level;
    return level == 0 ? 0 : work(level - 1) + (here == level);
}

__attribute__((noinline)) static pid_t start(void)
{
    static char name[] = "true", *const arguments[] = {name, NULL};
    pid_t child = vfork();
    if (child == 0) {
        execv("/bin/true", arguments);
        _exit(1);
    }
    return child;
}

static void handle(int number)
{
    int status = -1;
    (void)number;
    pid_t child = start();
    ended += work(3) == 3 && waitpid(child, &status, 0) == child && status == 0;
}

__attribute__((noinline)) static int dive(int depth)
{
    volatile int here = depth;
    if (depth > 0)
        return dive(depth - 1) + (here == depth);
    return raise(SIGUSR1);
}

int main(void)
{
    int deep = 0;
    signal(SIGUSR1, handle);
    for (int i = 0; i < RUNS; i++)
        deep += dive(10 * i);
    printf("ended %d deep %d\n", ended, deep);
    return ended == RUNS && deep == 30 ? 0 : 1;
}
