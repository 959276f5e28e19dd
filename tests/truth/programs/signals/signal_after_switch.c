/* A signal comes between the load of a stack pointer that switches to another stack and the first instruction that runs
 * there: the page of that instruction may not be executed until the signal's handler allows it. */
/* truth: -O0 -g; -O2; -O2 -static; strip -O2; compiler=clang -O2 */
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

enum { STACK = 65536, PAGE = 4096, TURNS = 60 };

/* fiber_start has a page of its own. Unwind information says where these functions begin and end when the program is
 * stripped. */
void fiber_start(void);
void enter_fiber(void **save, void *stack, void (*start)(void));
void leave_fiber(void *load);
void fiber_body(void);
__asm__(
    ".text\n.globl enter_fiber\n.type enter_fiber, @function\nenter_fiber:\n\t.cfi_startproc\n"
    "\tpushq %rbp\n\tpushq %rbx\n\tpushq %r12\n\tpushq %r13\n\tpushq %r14\n\tpushq %r15\n"
    "\tmovq %rsp, (%rdi)\n\tmovq %rsi, %rsp\n\tjmp *%rdx\n.cfi_endproc\n.size enter_fiber, . - "
    "enter_fiber\n"
    ".globl leave_fiber\n.type leave_fiber, @function\nleave_fiber:\n\t.cfi_startproc\n"
    "\tmovq %rdi, %rsp\n"
    "\tpopq %r15\n\tpopq %r14\n\tpopq %r13\n\tpopq %r12\n\tpopq %rbx\n\tpopq %rbp\n\tret\n"
    ".cfi_endproc\n.size leave_fiber, . - leave_fiber\n"
    ".balign 4096\n.globl fiber_start\n.type fiber_start, "
    "@function\nfiber_start:\n\t.cfi_startproc\n"
    "\tcall fiber_body\n\tud2\n.cfi_endproc\n.size fiber_start, . - fiber_start\n.balign 4096\n");

static void *left;
static volatile int faults, visits;

__attribute__((noinline)) static int climb(int depth)
{
    volatile int here = depth;
    return depth == 0 ? 0 : climb(depth - 1) + (here == depth);
}

void fiber_body(void)
{
    visits += climb(8) == 8;
    leave_fiber(left);
}

static void allow(int number, siginfo_t *info, void *context)
{
    (void)number;
    (void)context;
    if (info->si_addr != (void *)fiber_start)
        abort();
    faults += climb(3) == 3;
    mprotect((void *)fiber_start, PAGE, PROT_READ | PROT_EXEC);
}

__attribute__((noinline)) static int dive(int depth, char *stack)
{
    volatile int here = depth;
    if (depth > 0)
        return dive(depth - 1, stack) + (here == depth);
    mprotect((void *)fiber_start, PAGE, PROT_NONE);
    enter_fiber(&left, stack + STACK, fiber_start);
    return climb(2) - 2;
}

int main(void)
{
    struct sigaction action = {.sa_sigaction = allow, .sa_flags = SA_SIGINFO};
    char *stack = aligned_alloc(16, STACK);
    int sum = 0;
    sigaction(SIGSEGV, &action, NULL);
    for (int i = 0; i < TURNS; i++)
        sum += dive(i % 10, stack);
    free(stack);
    printf("sum %d faults %d visits %d\n", sum, faults, visits);
    return sum == 270 && faults == TURNS && visits == TURNS ? 0 : 1;
}
