/* A fault's handler changes the interrupted context: it goes on in another function, or after the
 * fault. */
/* truth: -O0 -g; -O2; -O2 -static; strip -O2 */
#define _GNU_SOURCE
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <ucontext.h>

long skip_fault(void);
extern const char fault_place[], after_fault[];
__asm__(".text\n.globl skip_fault, fault_place, after_fault\n.type skip_fault, @function\n"
        "skip_fault:\n\txor %eax, %eax\n"
        "fault_place:\n\tmovq (%rax), %rcx\n"
        "after_fault:\n\taddq $2, %rax\n\tret\n.size skip_fault, . - skip_fault\n");

static jmp_buf target;
static volatile int recovered;
static long *volatile nowhere;

__attribute__((noinline)) static void leave(int depth)
{
    if (depth > 0)
        leave(depth - 1);
    longjmp(target, 1);
}

/* Runs in place of the instruction that faulted, on the stack of the function that faulted. */
static void recover(void)
{
    recovered++;
    leave(3);
}

static void handle(int number, siginfo_t *info, void *context)
{
    (void)number;
    (void)info;
    greg_t *registers = ((ucontext_t *)context)->uc_mcontext.gregs;
    if (registers[REG_RIP] == (greg_t)fault_place) {
        registers[REG_RIP] = (greg_t)after_fault;
        return;
    }
    /* As at a function's entry: 8 modulo 16, below what the function may hold under its stack
     * pointer. */
    registers[REG_RSP] = ((registers[REG_RSP] - 256) & -16) - 8;
    registers[REG_RIP] = (greg_t)recover;
}

__attribute__((noinline)) static long dive(int depth)
{
    volatile int here = depth;
    return depth == 0 ? *nowhere : dive(depth - 1) + here;
}

__attribute__((noinline)) static int attempt(int depth)
{
    return setjmp(target) == 0 ? (int)dive(depth) : 10;
}

int main(void)
{
    struct sigaction action = {.sa_sigaction = handle, .sa_flags = SA_SIGINFO};
    sigaction(SIGSEGV, &action, NULL);
    long sum = 0;
    for (int i = 0; i < 30; i++)
        sum += attempt(i) + skip_fault();
    printf("sum %ld recovered %d\n", sum, recovered);
    return sum == 30 * 12 && recovered == 30 ? 0 : 1;
}
