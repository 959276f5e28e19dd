/* deep_server: has 40 KB of its stack in use when it says that it is ready, and works there until SIGTERM. */
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

enum { DEPTH = 80, FRAME = 480 };

static volatile sig_atomic_t ends;
static volatile unsigned sink;

static void on_signal(int number)
{
    ends = number;
}

__attribute__((noinline)) static void work(void)
{
    for (unsigned i = 0; i < 1000; i++)
        sink += i;
}

__attribute__((noinline)) static void serve(void)
{
    puts("ready");
    fflush(stdout);
    while (!ends) {
        work();
        usleep(1000);
    }
}

__attribute__((noinline)) static unsigned dig(unsigned depth)
{
    volatile char frame[FRAME];
    frame[depth] = 1;
    if (depth == 0)
        serve();
    else
        dig(depth - 1);
    return frame[depth] + sink; /* no tail call */
}

int main(void)
{
    signal(SIGTERM, on_signal);
    return dig(DEPTH) == 0;
}
