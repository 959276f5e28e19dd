/* Signals sent to certain threads by pthread_kill; a handler ends its thread by pthread_exit, deep
 * in a call. */
/* truth: -O0 -g -pthread; -O2 -pthread; strip -O2 -pthread */
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>

static volatile int handled;

__attribute__((noinline)) static int work(int depth)
{
    volatile int here = depth;
    return depth == 0 ? 0 : work(depth - 1) + (here == depth);
}

static void count(int number)
{
    (void)number;
    handled += work(4) == 4;
}

/* qemu-user before 8.1 enters a handler with a stack that is 8 bytes off. */
__attribute__((force_align_arg_pointer)) static void leave(int number)
{
    (void)number;
    pthread_exit((void *)(intptr_t)work(9));
}

__attribute__((noinline)) static int descend(int depth, int number)
{
    volatile int here = depth;
    if (depth == 0) {
        pthread_kill(pthread_self(), number);
        return 0;
    }
    return descend(depth - 1, number) + (here == depth);
}

static void *run(void *argument)
{
    int depth = (int)(intptr_t)argument;
    intptr_t value = descend(depth, SIGUSR1);
    descend(depth, SIGUSR2);
    return (void *)value;
}

int main(void)
{
    int nines = 0;
    signal(SIGUSR1, count);
    signal(SIGUSR2, leave);
    for (intptr_t i = 0; i < 20; i++) {
        pthread_t thread;
        void *value;
        if (pthread_create(&thread, NULL, run, (void *)(i * 3)) != 0)
            return 1;
        pthread_join(thread, &value);
        nines += (intptr_t)value == 9;
    }
    printf("nines %d handled %d\n", nines, handled);
    return nines == 20 && handled == 20 ? 0 : 1;
}
