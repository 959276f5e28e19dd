/* Waits for signals in middle(), which outer() has called: SIGUSR1 has the handler call woken() and say so, SIGTERM ends it. Prints "ready"
 * when it waits. */
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

static volatile int count;

__attribute__((noinline)) void woken(void)
{
    count++;
}

static void handle(int number)
{
    if (number == SIGTERM)
        _exit(0);
    woken();
    if (write(1, "woken\n", 6) != 6)
        abort();
}

__attribute__((noinline)) void middle(void)
{
    if (write(1, "ready\n", 6) != 6)
        abort();
    for (;;)
        pause();
}

__attribute__((noinline)) void outer(void)
{
    middle();
    count++;
}

int main(void)
{
    struct sigaction action = {.sa_handler = handle};
    sigaction(SIGUSR1, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    outer();
    return count;
}
