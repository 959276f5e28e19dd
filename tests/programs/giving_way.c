/* Two threads on the same processor that give way to each other until both have done so often, and sleep in between: in
 * sched_yield(2) a thread could run on, in nanosleep(2) it waits. */
#define _GNU_SOURCE
#include "one_processor.h"

#include <sched.h>
#include <stdatomic.h>

enum { TURNS = 300, SLEEPS = 3, SLEEP_NS = 2 * 1000 * 1000 };

static atomic_int turn;

__attribute__((noinline)) static void give_way(void)
{
    sched_yield();
}

static void *run(void *argument)
{
    int thread = argument != NULL;
    for (int i = 0; i < TURNS; i++) {
        while (atomic_load(&turn) != thread)
            give_way();
        if (i % (TURNS / SLEEPS) == 1)
            doze(SLEEP_NS);
        atomic_store(&turn, !thread);
    }
    return NULL;
}

int main(void)
{
    return run_on_one_processor(run);
}
