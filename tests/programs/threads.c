/* Four threads, each with its own number of calls. */
#include <pthread.h>
#include <stdio.h>

enum { THREADS = 4 };

static unsigned long calls[THREADS];

static unsigned descend(int thread, unsigned n)
{
    calls[thread]++;
    return n == 0 ? 1 : descend(thread, n - 1) + 1;
}

static void *thread_main(void *number)
{
    int thread = (int)(long)number;
    for (int i = 0; i <= thread; i++)
        descend(thread, 100);
    return NULL;
}

int main(void)
{
    pthread_t threads[THREADS];
    for (long i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, thread_main, (void *)i);
    unsigned long sum = 0;
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        sum += calls[i];
    }
    printf("COUNT descend %lu\nCOUNT thread_main %d\nCOUNT main 1\n", sum, THREADS);
    return 0;
}
