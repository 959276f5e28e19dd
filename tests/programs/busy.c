/* Works with several threads until SIGTERM, and then says whether its results are right: for
 * tests that attach to it.
 *
 *     busy THREADS [SECONDS]    ends after so long, or at SIGTERM
 *
 * Each thread calls `request` at least once and again and again, which calls `part` three times,
 * and `pause_a_little`.
 */
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static atomic_int stop;
static atomic_ulong requests;
static atomic_int faults;

static void end(int signal)
{
    stop = 1;
}

__attribute__((noinline)) static unsigned part(unsigned value, unsigned rounds)
{
    for (unsigned i = 0; i < rounds; i++)
        value = value * 1103515245 + 12345;
    return value;
}

__attribute__((noinline)) static unsigned request(unsigned number)
{
    unsigned value = number;
    for (unsigned i = 1; i <= 3; i++)
        value = part(value, 10 * i);
    return value;
}

__attribute__((noinline)) static void pause_a_little(void)
{
    struct timespec time = {.tv_nsec = 200000};
    if (nanosleep(&time, NULL) != 0 && !stop)
        faults++; /* nobody sends us a signal before the end, so nothing may cut this short */
}

static void *work(void *unused)
{
    unsigned right = 7;
    for (int i = 0; i < 60; i++)
        right = right * 1103515245 + 12345;
    do {
        if (request(7) != right)
            faults++;
        requests++;
        pause_a_little();
    } while (!stop);
    return NULL;
}

int main(int argc, char **argv)
{
    int count = argc > 1 ? atoi(argv[1]) : 1;
    pthread_t threads[16];
    signal(SIGTERM, end);
    if (argc > 2) {
        signal(SIGALRM, end);
        alarm((unsigned)atoi(argv[2]));
    }
    for (int i = 1; i < count; i++)
        pthread_create(&threads[i], NULL, work, NULL);
    printf("ready\n");
    fflush(stdout);
    work(NULL);
    for (int i = 1; i < count; i++)
        pthread_join(threads[i], NULL);
    printf("%d faults in %s requests\n", (int)faults, requests > 0 ? "many" : "no");
    return faults != 0;
}
