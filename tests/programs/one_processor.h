/* Two threads of a program on one and the same processor: for off_cpu.c and giving_way.c. */
#include <pthread.h>
#include <sched.h>
#include <time.h>

__attribute__((noinline)) static void doze(long nanoseconds)
{
    struct timespec pause = {.tv_nsec = nanoseconds};
    nanosleep(&pause, NULL);
}

/* Runs `run` in this thread, with NULL, and in another one. The program's exit status. */
static int run_on_one_processor(void *(*run)(void *))
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
