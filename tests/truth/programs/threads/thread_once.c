/* pthread_once, with a routine that recurses and uses another once-variable, from three threads. */
/* truth: -O0 -g -pthread; -O2 -pthread; -O2 -static -pthread; strip -O2 -pthread */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>

enum { THREADS = 3 };

static pthread_once_t outer_once = PTHREAD_ONCE_INIT, inner_once = PTHREAD_ONCE_INIT;
static volatile int outer_value, inner_value;

__attribute__((noinline)) static int work(int depth)
{
    volatile int here = depth;
    return depth == 0 ? 0 : work(depth - 1) + (here == depth);
}

static void set_inner(void)
{
    inner_value += work(30);
}

static void set_outer(void)
{
    pthread_once(&inner_once, set_inner);
    outer_value += work(12) + inner_value;
}

__attribute__((noinline)) static int get(int depth)
{
    volatile int here = depth;
    if (depth > 0)
        return get(depth - 1) + (here != depth);
    pthread_once(&outer_once, set_outer);
    return outer_value;
}

static void *run(void *argument)
{
    intptr_t sum = 0;
    for (int i = 0; i < 40; i++)
        sum += get((int)(intptr_t)argument + i);
    return (void *)sum;
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
    return sum == 3 * 40 * 42 && inner_value == 30 ? 0 : 1;
}
