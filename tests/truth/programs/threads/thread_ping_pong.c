/* Two threads that take turns with a condition variable, each deep in its own recursion while it
 * waits. */
/* truth: -O0 -g -pthread; -O2 -pthread; -O2 -static -pthread; strip -O2 -pthread */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>

enum { DEPTH = 60 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int turn, order;

__attribute__((noinline)) static void take_turn(int mine)
{
    pthread_mutex_lock(&lock);
    while (turn != mine)
        pthread_cond_wait(&changed, &lock);
    order = (order * 3 + mine + 1) % 10007;
    turn = !mine;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
}

__attribute__((noinline)) static int descend(int mine, int depth)
{
    volatile int here = depth;
    take_turn(mine);
    int below = depth == 0 ? 0 : descend(mine, depth - 1);
    take_turn(mine);
    return below + (here == depth);
}

static void *run(void *argument)
{
    return (void *)(intptr_t)descend((int)(intptr_t)argument, DEPTH);
}

int main(void)
{
    pthread_t threads[2];
    intptr_t sum = 0;
    int expected = 0;
    for (intptr_t i = 0; i < 2; i++)
        if (pthread_create(&threads[i], NULL, run, (void *)i) != 0)
            return 1;
    for (int i = 0; i < 2; i++) {
        void *value;
        pthread_join(threads[i], &value);
        sum += (intptr_t)value;
    }
    for (int i = 0; i < 4 * (DEPTH + 1); i++)
        expected = (expected * 3 + i % 2 + 1) % 10007;
    printf("sum %ld order %d\n", (long)sum, order);
    return sum == 2 * (DEPTH + 1) && order == expected ? 0 : 1;
}
