/* A fast timer interrupts lazily bound calls, setjmp and longjmp, and system calls, anywhere. */
/* truth: -O0 -g -Wl,-z,lazy; -O2 -Wl,-z,lazy; -O2 -static; strip -O2 -Wl,-z,now */
#define _GNU_SOURCE
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

enum { SIGNALS = 150, LEAST_ROUNDS = 300, MOST_ROUNDS = 4000 };

static volatile int signals;
static jmp_buf target;

__attribute__((noinline)) static int work(int level)
{
    volatile int here = level;
    return level == 0 ? 0 : work(level - 1) + (here == level);
}

static void tick(int number)
{
    char text[8];
    (void)number;
    signals += work(2) == 2;
    memset(text, number, sizeof text);
}

__attribute__((noinline)) static void leave(int depth)
{
    volatile int here = depth;
    if (depth == 0)
        longjmp(target, 1);
    leave(here - 1);
    work(here);
}

static int compare(const void *left, const void *right)
{
    return *(const int *)left - *(const int *)right;
}

__attribute__((noinline)) static int call_library(int round)
{
    int numbers[] = {5, round & 7, 2, 9, 1, 8};
    char text[32];
    qsort(numbers, 6, sizeof *numbers, compare);
    snprintf(text, sizeof text, "%d", round);
    return atoi(text) == round && getppid() > 0 && numbers[0] <= numbers[5];
}

__attribute__((noinline)) static int jump_back(int depth)
{
    if (setjmp(target) == 0)
        leave(depth);
    return work(1);
}

int main(void)
{
    struct sigaction action = {.sa_handler = tick, .sa_flags = SA_RESTART};
    struct itimerval every = {{0, 150}, {0, 150}}, never = {{0, 0}, {0, 0}};
    int right = 0, round = 0;
    sigaction(SIGALRM, &action, NULL);
    setitimer(ITIMER_REAL, &every, NULL);
    for (; round < LEAST_ROUNDS || (signals < SIGNALS && round < MOST_ROUNDS); round++)
        right += call_library(round) + jump_back(round % 6);
    setitimer(ITIMER_REAL, &never, NULL);
    printf("right %d of %d\n", right, 2 * round);
    return right == 2 * round ? 0 : 1;
}
