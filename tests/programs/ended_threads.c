/* Processes whose second thread is in the middle of its work when they end, each at another moment. */
#include <pthread.h>
#include <stdio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { PROCESSES = 60, NANOSECONDS = 10 * 1000 * 1000, STEP = 37 * 1000 };

static int fib(int n)
{
    return n < 2 ? n : fib(n - 1) + fib(n - 2);
}

static void *work(void *unused)
{
    for (;;)
        fib(20);
    return NULL;
}

int main(void)
{
    for (int i = 0; i < PROCESSES; i++) {
        if (fork() == 0) {
            pthread_t thread;
            struct timespec while_it_works = {.tv_nsec = NANOSECONDS + i * STEP};
            pthread_create(&thread, NULL, work, NULL);
            nanosleep(&while_it_works, NULL);
            _exit(0);
        }
        wait(NULL);
    }
    puts("done");
    return 0;
}
