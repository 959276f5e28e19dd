/* Spends its time in known shares: 70, 20 and 10 % in three functions, whatever the machine.
 *
 *     shares MILLISECONDS [DEPTH [SLEEPS [wait]]]
 *
 * All work is done by one loop, so that the shares are those of its turns. No two rounds take
 * equally long: samples, which come at equal distances, would fall on the same parts of them again
 * and again. With a DEPTH the work of ten() is done at the bottom of a recursion. With SLEEPS it
 * sleeps so often for 30 ms in between, in napping(): in the middle of equal parts. With "wait" it
 * begins when its standard input says something. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { FEWEST_TURNS = 10000, MORE_TURNS = 20000, NAP = 30000000 };

static int turns; /* of this round */

static volatile uint64_t state = 1;

__attribute__((noinline)) void work(int count)
{
    for (int i = 0; i < count; i++)
        state = state * UINT64_C(6364136223846793005) + 1;
}

/* What follows a call keeps it from being a tail call. */
#define KEEP __asm__ volatile("")

__attribute__((noinline)) void seventy(void)
{
    work(7 * turns);
    KEEP;
}

__attribute__((noinline)) void twenty(void)
{
    work(2 * turns);
    KEEP;
}

__attribute__((noinline)) void deep(int depth)
{
    if (depth > 0)
        deep(depth - 1);
    else
        work(turns);
    KEEP;
}

__attribute__((noinline)) void ten(int depth)
{
    if (depth > 0)
        deep(depth - 1);
    else
        work(turns);
    KEEP;
}

__attribute__((noinline)) void napping(void)
{
    const struct timespec nap = {.tv_nsec = NAP};
    nanosleep(&nap, NULL);
    KEEP;
}

/* The lengths of rounds are those of Knuth's generator, the same in each run. */
static void begin_round(void)
{
    static uint64_t random = 1;
    random = random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    turns = FEWEST_TURNS + (int)((random >> 33) % MORE_TURNS);
}

static uint64_t used_milliseconds(void)
{
    struct timespec time;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return (uint64_t)time.tv_sec * 1000 + (uint64_t)time.tv_nsec / 1000000;
}

/* Page faults, when all else is done: marks from before the first sample are in no trace. How long they
 * take depends on the machine, so this is none of the shares. */
__attribute__((noinline)) void touch_new_pages(void)
{
    enum { PAGES = 4096, PAGE = 4096 };
    static volatile char pages[PAGES * PAGE];
    for (size_t i = 0; i < PAGES; i++)
        pages[i * PAGE] = 1;
    KEEP;
}

int main(int argc, char **argv)
{
    uint64_t milliseconds = argc > 1 ? strtoull(argv[1], NULL, 10) : 100;
    int depth = argc > 2 ? atoi(argv[2]) : 0;
    uint64_t sleeps = argc > 3 ? strtoull(argv[3], NULL, 10) : 0, slept = 0;
    if (argc > 4)
        getchar();
    for (uint64_t used = 0; used < milliseconds; used = used_milliseconds()) {
        for (int i = 0; i < 10; i++) {
            begin_round();
            seventy();
            twenty();
            ten(depth);
        }
        if (slept < sleeps && 2 * used * sleeps >= (2 * slept + 1) * milliseconds) {
            napping();
            slept++;
        }
    }
    touch_new_pages();
    printf("done\n");
    return 0;
}
