/* pthread_exit deep in a recursion; cleanup handlers and destructors of thread-specific data make
 * calls. */
/* truth: -O0 -g -pthread; -O2 -pthread; -O2 -static -pthread; strip -O2 -pthread */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>

enum { THREADS = 3 };

static pthread_key_t key;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static volatile int cleanups, destroyed;

__attribute__((noinline)) static int work(int depth)
{
    volatile int here = depth;
    return depth == 0 ? 0 : work(depth - 1) + (here == depth);
}

static void clean(void *argument)
{
    int number = (int)(intptr_t)argument;
    pthread_mutex_lock(&lock);
    cleanups += work(number) == number;
    pthread_mutex_unlock(&lock);
}

static void destroy(void *value)
{
    pthread_mutex_lock(&lock);
    destroyed += work((int)(intptr_t)value);
    pthread_mutex_unlock(&lock);
}

__attribute__((noinline)) static int descend(int depth)
{
    volatile int here = depth;
    if (depth == 0)
        pthread_exit((void *)(intptr_t)7);
    int value = 0;
    if (depth % 10 == 0) {
        pthread_cleanup_push(clean, (void *)(intptr_t)depth);
        value = descend(depth - 1);
        pthread_cleanup_pop(0);
    } else {
        value = descend(depth - 1);
    }
    return value + here;
}

static void *run(void *argument)
{
    pthread_setspecific(key, (void *)(intptr_t)20);
    descend((int)(intptr_t)argument);
    return NULL;
}

int main(void)
{
    int sevens = 0;
    pthread_key_create(&key, destroy);
    for (int round = 0; round < 5; round++) {
        pthread_t threads[THREADS];
        for (intptr_t i = 0; i < THREADS; i++)
            if (pthread_create(&threads[i], NULL, run, (void *)(50 + i * 50)) != 0)
                return 1;
        for (int i = 0; i < THREADS; i++) {
            void *value;
            pthread_join(threads[i], &value);
            sevens += (intptr_t)value == 7;
        }
    }
    printf("sevens %d cleanups %d destroyed %d\n", sevens, cleanups, destroyed);
    return sevens == 15 && cleanups == 5 * (5 + 10 + 15) && destroyed == 15 * 20 ? 0 : 1;
}
