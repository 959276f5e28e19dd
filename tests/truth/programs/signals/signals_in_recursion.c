/* A timer's signals interrupt a deep recursion anywhere; the handler makes calls. The result is the
 * same for any number of signals. */
/* truth: -O0 -g; -O2; -O2 -static; strip -O2 */
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <sys/time.h>

static volatile int ticks;

__attribute__((noinline)) static int tick(int depth)
{
    volatile int here = depth;
    ticks++;
    return depth == 0 ? 1 : tick(depth - 1) + (here == depth);
}

static void handle(int number)
{
    (void)number;
    tick(5);
}

__attribute__((noinline)) static int tree(int depth)
{
    volatile int here = depth;
    if (depth <= 0)
        return 1;
    return tree(depth - 1) + tree(depth - 3) + (here != depth);
}

__attribute__((noinline)) static int chain(int depth)
{
    volatile int here = depth;
    if (depth == 0) {
        raise(SIGALRM);
        return 0;
    }
    return chain(depth - 1) + (here == depth);
}

int main(void)
{
    struct itimerval often = {{0, 500}, {0, 500}}, never = {{0, 0}, {0, 0}};
    struct sigaction action = {.sa_handler = handle, .sa_flags = SA_RESTART};
    sigaction(SIGALRM, &action, NULL);
    setitimer(ITIMER_REAL, &often, NULL);
    int leaves = tree(24), links = 0;
    for (int i = 0; i < 10; i++)
        links += chain(500);
    setitimer(ITIMER_REAL, &never, NULL);
    printf("leaves %d links %d\n", leaves, links);
    return leaves == 12664 && links == 5000 && ticks >= 6 ? 0 : 1;
}
