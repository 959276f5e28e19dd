/* Five threads, each interrupted by a timer of its own. */
/* truth: -O0 -g -pthread; -O2 -pthread; -O2 -static -pthread; strip -O2 -pthread */
/* truth-link: -lrt */
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#ifndef sigev_notify_thread_id
#define sigev_notify_thread_id _sigev_un._tid
#endif

enum { THREADS = 5, SIGNALS = 12, MOST_ROUNDS = 300 };

static __thread volatile int signals;

__attribute__((noinline)) static int work(int level)
{
    volatile int here = level;
    return level == 0 ? 0 : work(level - 1) + (here == level);
}

static void tick(int number)
{
    (void)number;
    signals += work(4) == 4;
}

static void *run(void *argument)
{
    struct sigevent event = {.sigev_notify = SIGEV_THREAD_ID, .sigev_signo = SIGRTMIN};
    struct itimerspec every = {{0, 400000}, {0, 400000}};
    timer_t timer;
    long right = 0, rounds = 0;
    (void)argument;
    event.sigev_notify_thread_id = (pid_t)syscall(SYS_gettid);
    if (timer_create(CLOCK_MONOTONIC, &event, &timer) != 0)
        return "no timer";
    timer_settime(timer, 0, &every, NULL);
    for (; signals < SIGNALS && rounds < MOST_ROUNDS; rounds++)
        right += work(30) == 30;
    timer_delete(timer);
    return right == rounds ? NULL : "wrong";
}

int main(void)
{
    struct sigaction action = {.sa_handler = tick, .sa_flags = SA_RESTART};
    pthread_t threads[THREADS];
    int wrong = 0;
    sigaction(SIGRTMIN, &action, NULL);
    for (int i = 0; i < THREADS; i++)
        wrong += pthread_create(&threads[i], NULL, run, NULL) != 0;
    for (int i = 0; i < THREADS; i++) {
        void *result;
        pthread_join(threads[i], &result);
        wrong += result != NULL;
    }
    printf("wrong %d\n", wrong);
    return wrong;
}
