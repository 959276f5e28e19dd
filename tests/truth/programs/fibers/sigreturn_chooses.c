/* As sigreturn_switches.c, but the handler chooses who goes on by a pseudo-random number, fibers are interrupted in three
 * functions, which all of them run, and the program ends in a fiber: main's stack, interrupted first, never goes on. */
/* truth: -O0 -g; -O2 */
#include "marker.h"
#include <signal.h>
#include <string.h>
#include <ucontext.h>

enum { FIBERS = 5, TURNS = 300, STACK = 64 << 10 };

struct fiber {
    greg_t registers[NGREG];
    struct _libc_fpstate numbers;
    int begun;
};

static struct fiber fibers[FIBERS];
static volatile int running, turns;
static unsigned number = 1;

static int choose(int limit)
{
    number = number * 1103515245 + 12345;
    return (int)(number >> 16) % limit;
}

__attribute__((noinline)) static int pause_here(int level)
{
    volatile int here = level;
    truth_marker();
    raise(SIGUSR1);
    truth_marker();
    return here == level;
}

__attribute__((noinline)) static int left(int depth);

__attribute__((noinline)) static int right(int depth)
{
    volatile int here = depth;
    if (depth <= 0)
        return pause_here(depth);
    int done = choose(2) ? left(depth - 1) : right(depth - 2);
    truth_marker();
    if (depth == 2)
        raise(SIGUSR1);
    truth_marker();
    return done + (here == depth);
}

__attribute__((noinline)) static int left(int depth)
{
    volatile int here = depth;
    if (depth <= 0)
        return pause_here(depth);
    int done = choose(2) ? right(depth - 1) : left(depth - 1);
    if (depth == 3)
        raise(SIGUSR1);
    truth_marker();
    return done + (here == depth);
}

static void run(void)
{
    for (;;) {
        if (left(choose(6)) < 0)
            abort();
        truth_marker();
        if (turns >= TURNS)
            exit(0);
    }
}

static void begin(struct fiber *fiber, greg_t *registers)
{
    char *stack = malloc(STACK);
    registers[REG_RIP] = (greg_t)run;
    registers[REG_RSP] = ((greg_t)(stack + STACK) & -16) - 8;
    *(long *)registers[REG_RSP] = 0;
    fiber->begun = 1;
}

static void swap(int signal_number, siginfo_t *info, void *context)
{
    (void)signal_number;
    (void)info;
    mcontext_t *machine = &((ucontext_t *)context)->uc_mcontext;
    struct fiber *from = &fibers[running];
    turns++;
    memcpy(from->registers, machine->gregs, sizeof from->registers);
    from->numbers = *machine->fpregs;
    running = 1 + choose(FIBERS - 1);
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
    return left(4);
}
