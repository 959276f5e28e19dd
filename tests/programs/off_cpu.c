/* Two threads that compute on the same processor, each of them 600 times, and sleep in between: at no time do
 * both run. */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <time.h>

enum { CALLS = 600, SLEEPS = 3, SLEEP_NS = 20 * 1000 * 1000 };

static volatile unsigned long sum[2];

__attribute__((noinline)) static void compute(int thread)
{
    for (unsigned i = 0; i < 3000; i++)
        sum[thread] += i;
}

__attribute__((noinline)) static void doze(void)
{
    struct timespec pause = {.tv_nsec = SLEEP_NS};
    nanosleep(&pause, NULL);
}

static void *run(void *argument)
{
    int thread = argument != NULL;
    for (int i = 0; i < CALLS; i++) {
        compute(thread);
        if (i % (CALLS / SLEEPS) == 1)
            doze();
    }
    return NULL;
}

int main(void)
{
    cpu_set_t allowed, one;
    pthread_t other;
    sched_getaffinity(0, sizeof allowed, &allowed);
    CPU_ZERO(&one);
    for (int i = 0; i < CPU_SETSIZE; i++)
        if (CPU_ISSET(i, &allowed)) {
            CPU_SET(i, &one);
            break;
        }
    if (sched_setaffinity(0, sizeof one, &one) != 0 ||
        pthread_create(&other, NULL, run, (void *)1) != 0)
        return 1;
    run(NULL);
    pthread_join(other, NULL);
    return 0;
}
