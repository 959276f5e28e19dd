/* Thousands of calls of one function, of which one lasts long.
 *
 *     long_calls sleeps|burns|recurses|thread
 *
 * Call 1234 sleeps for as long as nothing else ever takes; with "burns" call 2345 computes as long, and with "recurses"
 * it is the innermost of nested calls that sleeps; with "thread" all of it happens in a second thread. Every seventh call
 * is left by longjmp. Prints what the calls have returned.
 */
#include <pthread.h>
#include <setjmp.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { CALLS = 3000, LONG_MS = 400 };

static jmp_buf back;
static volatile unsigned sink;

__attribute__((noinline)) static void sleeps(void)
{
    usleep(LONG_MS * 1000);
}

__attribute__((noinline)) static void burns(void)
{
    struct timespec start, now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &start);
    do
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    while ((now.tv_sec - start.tv_sec) * 1000 + (now.tv_nsec - start.tv_nsec) / 1000000 < LONG_MS);
}

__attribute__((noinline)) int handle(int number, int depth, const char *how)
{
    sink += (unsigned)number;
    if (number % 7 == 6)
        longjmp(back, 1);
    if (depth > 0)
        return handle(number, depth - 1, how) + 1;
    if (number == 1234)
        sleeps();
    if (number == 2345 && strcmp(how, "burns") == 0)
        burns();
    return number % 10;
}

static int call_all(const char *how)
{
    volatile int sum = 0;
    int depth = strcmp(how, "recurses") == 0 ? 100 : 0;
    for (volatile int i = 0; i < CALLS; i++)
        if (setjmp(back) == 0)
            sum += handle(i, i == 1234 ? depth : i % 3, how);
    return sum;
}

static void *run(void *how)
{
    printf("%d\n", call_all(how));
    return NULL;
}

int main(int argc, char **argv)
{
    char *how = argc > 1 ? argv[1] : "sleeps";
    pthread_t thread;
    if (strcmp(how, "thread") != 0) {
        run(how);
        return 0;
    }
    pthread_create(&thread, NULL, run, how);
    pthread_join(thread, NULL);
    return 0;
}
