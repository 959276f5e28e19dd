/* A hundred times, two signals become pending at once: the second one interrupts the handler of the first, in which no
 * instruction writes flags, or comes right after it. Prints whether both came. */
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

static volatile sig_atomic_t first, second;

static void on_first(int number)
{
    (void)number;
    first = 1;
}

static void on_second(int number)
{
    (void)number;
    second = 1;
}

int main(void)
{
    sigset_t both, before;
    sigemptyset(&both);
    sigaddset(&both, SIGUSR1);
    sigaddset(&both, SIGUSR2);
    signal(SIGUSR1, on_first);
    signal(SIGUSR2, on_second);
    for (int i = 0; i < 100; i++) {
        sigprocmask(SIG_BLOCK, &both, &before);
        kill(getpid(), SIGUSR1);
        kill(getpid(), SIGUSR2);
        sigprocmask(SIG_SETMASK, &before, NULL);
    }
    printf("%d %d\n", first, second);
}
