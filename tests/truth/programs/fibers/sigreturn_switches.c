/* Threads of the program's own, switched by a signal handler that swaps the contexts that sigreturn
 * restores: each goes on where the signal has interrupted it. */
/* truth: -O0 -g; -O2; -O2 -static; strip -O2 */
#include "marker.h"
#include <signal.h>
#include <string.h>
#include <ucontext.h>

enum { FIBERS = 3, TURNS = 60, STACK = 64 << 10 };

struct fiber {
    greg_t registers[NGREG];
    struct _libc_fpstate numbers;
    int begun;
    long done;
};

static struct fiber fibers[FIBERS];
static volatile int running, turns;

__attribute__((noinline)) static int work(int level)
{
    volatile int here = level;
    truth_marker();
    return level == 0 ? 0 : work(level - 1) + (here == level);
}

__attribute__((noinline)) static int dive(int depth)
{
    volatile int here = depth;
    if (depth == 0)
        return raise(SIGUSR1) == 0 ? work(2) : 0;
    int done = dive(depth - 1) + (here == depth);
    truth_marker();
    return done;
}

static void run(void)
{
    for (int i = 0;; i++)
        fibers[running].done += dive(running + i % 4) > 0;
}

static void begin(struct fiber *fiber, greg_t *registers)
{
    char *stack = malloc(STACK);
    registers[REG_RIP] = (greg_t)run;
    registers[REG_RSP] = ((greg_t)(stack + STACK) & -16) - 8;
    *(long *)registers[REG_RSP] = 0;
    fiber->begun = 1;
}

static void swap(int number, siginfo_t *info, void *context)
{
    (void)number;
    (void)info;
    mcontext_t *machine = &((ucontext_t *)context)->uc_mcontext;
    struct fiber *from = &fibers[running];
    turns++;
    memcpy(from->registers, machine->gregs, sizeof from->registers);
    from->numbers = *machine->fpregs;
    running = turns < TURNS ? (running + 1) % FIBERS : 0;
    struct fiber *to = &fibers[running];
    if (to->begun) {
        memcpy(machine->gregs, to->registers, sizeof to->registers);
        *machine->fpregs = to->numbers;
    } else {
        begin(to, machine->gregs);
    }
}

int main(void)
{
    struct sigaction action = {.sa_sigaction = swap, .sa_flags = SA_SIGINFO};
    sigaction(SIGUSR1, &action, NULL);
    fibers[0].begun = 1;
    for (int i = 0; turns < TURNS; i++)
        fibers[0].done += dive(i % 5) > 0;
    long done = fibers[0].done + fibers[1].done + fibers[2].done;
    printf("done %ld\n", done);
    return done > TURNS - FIBERS - 2 && fibers[1].done > 15 && fibers[2].done > 15 ? 0 : 1;
}
