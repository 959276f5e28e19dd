/* Faults in a loop that ran often before, at any of its iterations; then signals of a timer in such a loop.
 *
 *     interrupted_loops        prints how often touch() was called
 */
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/time.h>

enum { PAGE = 4096, ROUNDS = 40, MICROSECONDS = 50 };

static sigjmp_buf before;

static void faulted(int number)
{
    siglongjmp(before, number);
}

static void interrupted(int number)
{
    (void)number;
}

__attribute__((noinline)) char touch(volatile const char *byte)
{
    return *byte;
}

/* Ends with the page. */
static void run(const char *at)
{
    if (sigsetjmp(before, 1) == 0)
        while (1)
            touch(at++);
}

static void run_interrupted(const char *page, long calls)
{
    struct itimerval timer = {{0, MICROSECONDS}, {0, MICROSECONDS}}, none = {0};
    signal(SIGALRM, interrupted);
    setitimer(ITIMER_REAL, &timer, NULL);
    for (long i = 0; i < calls; i++)
        touch(page);
    setitimer(ITIMER_REAL, &none, NULL);
}

int main(void)
{
    struct sigaction action = {.sa_handler = faulted};
    char *page = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    long calls = 0;
    if (page == MAP_FAILED || mprotect(page + PAGE, PAGE, PROT_NONE) != 0)
        return 1;
    sigaction(SIGSEGV, &action, NULL);
    for (int i = 0; i < ROUNDS; i++) {
        run(page + i);
        calls += PAGE - i + 1;
    }
    run_interrupted(page, ROUNDS * PAGE);
    calls += ROUNDS * PAGE;
    printf("touch was called %ld times\n", calls);
    return 0;
}
