/* A timer's signals interrupt a read that the kernel restarts, one of them with a signal of its own
 * inside; the last one makes the read succeed. */
/* truth: -O0 -g; -O2; -O2 -static; strip -O2 */
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <sys/time.h>
#include <unistd.h>

enum { ROUNDS = 12, SIGNALS_BEFORE_BYTE = 4 };

static int ends[2];
static volatile int alarms, inner, worked;

__attribute__((noinline)) static int work(int level)
{
    volatile int here = level;
    return level == 0 ? 0 : work(level - 1) + (here == level);
}

static void within(int number)
{
    (void)number;
    inner += work(3) == 3;
}

static void tick(int number)
{
    (void)number;
    alarms++;
    worked += work(5);
    if (alarms % 2)
        raise(SIGUSR1);
    if (alarms % SIGNALS_BEFORE_BYTE == 0 && write(ends[1], "x", 1) != 1)
        _exit(2);
}

__attribute__((noinline)) static int wait_for_byte(int depth)
{
    char byte = 0;
    if (depth > 0)
        return wait_for_byte(depth - 1) + (work(1) == 1);
    return read(ends[0], &byte, 1) == 1 && byte == 'x';
}

int main(void)
{
    struct sigaction again = {.sa_handler = tick, .sa_flags = SA_RESTART};
    struct sigaction inside = {.sa_handler = within, .sa_flags = SA_RESTART | SA_NODEFER};
    struct itimerval every = {{0, 3000}, {0, 3000}}, never = {{0, 0}, {0, 0}};
    int got = 0;
    if (pipe(ends) != 0)
        return 2;
    sigaction(SIGALRM, &again, NULL);
    sigaction(SIGUSR1, &inside, NULL);
    setitimer(ITIMER_REAL, &every, NULL);
    for (int i = 0; i < ROUNDS; i++)
        got += wait_for_byte(i);
    setitimer(ITIMER_REAL, &never, NULL);
    printf("got %d\n", got);
    return got == ROUNDS + ROUNDS * (ROUNDS - 1) / 2 && inner > 0 && worked == 5 * alarms ? 0 : 1;
}
