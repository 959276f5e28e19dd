/* pthread_cancel of threads that ask for it deep in a recursion, with cleanup handlers on the way
 * out. They do not wait in a system call: qemu-user before 8.1 enters libc's handler with a
 * misaligned stack. */
/* truth: -O0 -g -pthread; -O2 -pthread; -O2 -static -pthread; strip -O2 -pthread; -O2 -fexceptions -pthread */
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdint.h>
#include <stdio.h>

static sem_t ready;
static _Atomic int canceling;
static volatile int cleanups;

__attribute__((noinline)) static int work(int depth)
{
    volatile int here = depth;
    return depth == 0 ? 0 : work(depth - 1) + (here == depth);
}

static void clean(void *argument)
{
    int number = (int)(intptr_t)argument;
    cleanups += work(number) == number;
}

__attribute__((noinline)) static int wait_deep(int depth)
{
    volatile int here = depth;
    int value = 0;
    if (depth == 0) {
        sem_post(&ready);
        while (!canceling)
            sched_yield();
        pthread_testcancel();
        return 0;
    }
    pthread_cleanup_push(clean, (void *)(intptr_t)depth);
    value = wait_deep(depth - 1);
    pthread_cleanup_pop(0);
    return value + here;
}

static void *run(void *argument)
{
    return (void *)(intptr_t)wait_deep((int)(intptr_t)argument);
}

int main(void)
{
    int canceled = 0;
    sem_init(&ready, 0, 0);
    for (intptr_t depth = 1; depth <= 20; depth++) {
        pthread_t thread;
        canceling = 0;
        void *value = NULL;
        if (pthread_create(&thread, NULL, run, (void *)depth) != 0)
            return 1;
        sem_wait(&ready);
        pthread_cancel(thread);
        canceling = 1;
        pthread_join(thread, &value);
        canceled += value == PTHREAD_CANCELED;
    }
    printf("canceled %d cleanups %d\n", canceled, cleanups);
    return canceled == 20 && cleanups == 210 ? 0 : 1;
}
