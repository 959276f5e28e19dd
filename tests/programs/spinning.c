/* Threads that each use so much of a processor, however many share it.
 *
 *     spinning THREADS MILLISECONDS
 */
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <time.h>

static uint64_t milliseconds;

static uint64_t used_milliseconds(void)
{
    struct timespec time;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return (uint64_t)time.tv_sec * 1000 + (uint64_t)time.tv_nsec / 1000000;
}

__attribute__((noinline)) static void spin(void)
{
    for (volatile int i = 0; i < 10000; i++)
        ;
}

static void *work(void *unused)
{
    while (used_milliseconds() < milliseconds)
        spin();
    return NULL;
}

int main(int argc, char **argv)
{
    int count = argc > 1 ? atoi(argv[1]) : 1;
    milliseconds = argc > 2 ? strtoull(argv[2], NULL, 10) : 100;
    pthread_t threads[16];
    for (int i = 1; i < count; i++)
        pthread_create(&threads[i], NULL, work, NULL);
    work(NULL);
    for (int i = 1; i < count; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
