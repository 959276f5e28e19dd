/* A program that sets the trap flag itself: by POPF, and in the context that a handler returns to. Each instruction then raises SIGTRAP; the
 * handler notes where, until it has seen so many, and takes the flag away. Prints how many, and how far each was from the one before. */
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <ucontext.h>

enum { STEPS = 12, TRAP_FLAG = 0x100 };

static volatile int count;
static greg_t places[STEPS];

static void step(int signal, siginfo_t *info, void *context)
{
    ucontext_t *state = context;
    (void)signal;
    if (info->si_code != TRAP_TRACE || count == STEPS)
        return;
    places[count++] = state->uc_mcontext.gregs[REG_RIP];
    if (count == STEPS)
        state->uc_mcontext.gregs[REG_EFL] &= ~(greg_t)TRAP_FLAG;
}

static void begin_steps(int signal, siginfo_t *info, void *context)
{
    ucontext_t *state = context;
    (void)signal, (void)info;
    state->uc_mcontext.gregs[REG_EFL] |= TRAP_FLAG;
}

static void print_steps(const char *what)
{
    printf("%s: %d:", what, count);
    for (int i = 1; i < count; i++)
        printf(" %lld", (long long)(places[i] - places[i - 1]));
    puts("");
    fflush(stdout);
    count = 0;
}

__attribute__((noinline)) static int loop_with_flag(void)
{
    int sum;
    __asm__ volatile("sub $128, %%rsp\n"
                     "pushf\n"
                     "orl $0x100, (%%rsp)\n"
                     "popf\n"
                     "mov $20, %%ecx\n"
                     "xor %0, %0\n"
                     "1: add %%ecx, %0\n"
                     "dec %%ecx\n"
                     "jnz 1b\n"
                     "add $128, %%rsp\n"
                     : "=&r"(sum)
                     :
                     : "rcx", "memory", "cc");
    return sum;
}

int main(int argument_count, char **arguments)
{
    struct sigaction action = {.sa_sigaction = step, .sa_flags = SA_SIGINFO};
    sigaction(SIGTRAP, &action, NULL);
    action.sa_sigaction = begin_steps;
    sigaction(SIGUSR1, &action, NULL);
    if (argument_count > 1 && strcmp(arguments[1], "handler") == 0) {
        raise(SIGUSR1);
        print_steps("handler");
    }
    printf("sum %d\n", loop_with_flag());
    print_steps("popf");
    return 0;
}
