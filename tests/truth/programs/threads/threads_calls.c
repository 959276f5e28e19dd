/* Four threads recurse at the same time; each counts in its own thread-local variables. */
/* truth: -O0 -g -pthread; -O2 -pthread; -O2 -static -pthread; strip -O2 -pthread; compiler=clang -O2 -pthread */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>

enum { THREADS = 4 };

static _Thread_local int calls;

__attribute__((noinline)) static int tree(int depth)
{
    calls++;
    volatile int here = depth;
    return depth <= 0 ? 1 : tree(depth - 1) + tree(depth - 2) + (here != depth);
}

__attribute__((noinline)) static int chain(int depth)
{
    calls++;
    volatile int here = depth;
    return depth == 0 ? 0 : chain(depth - 1) + (here == depth);
}

static void *run(void *argument)
{
    int number = (int)(intptr_t)argument;
    int value = tree(12 + number) + chain(200 * number);
    return (void *)(intptr_t)(value * 10 + (calls > value));
}

int main(void)
{
    pthread_t threads[THREADS];
    intptr_t sum = 0;
    for (intptr_t i = 0; i < THREADS; i++)
        if (pthread_create(&threads[i], NULL, run, (void *)i) != 0)
            return 1;
    for (int i = 0; i < THREADS; i++) {
        void *value;
        pthread_join(threads[i], &value);
        sum += (intptr_t)value;
    }
    printf("sum %ld\n", (long)sum);
    return sum == 47714 && calls == 0 ? 0 : 1;
}
