/* Ends while its threads run: no packet says that their tracing ended. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

static atomic_uint calls;

static unsigned step(unsigned value)
{
    atomic_fetch_add(&calls, 1);
    return value % 3 ? value * 5 + 1 : value / 3;
}

static void *run(void *unused)
{
    for (unsigned value = 1;;)
        value = step(value);
    return unused;
}

int main(void)
{
    enum { THREADS = 3, CALLS = 2000 };
    pthread_t thread;
    for (int i = 0; i < THREADS; i++)
        if (pthread_create(&thread, NULL, run, NULL) != 0)
            return 1;
    while (atomic_load(&calls) < CALLS)
        step(1);
    puts("done");
    return 0;
}
