/* Fibers whose stacks are small and lie one after another, switched by a few instructions (minicoro's way), which throw and
 * longjmp. */
/* truth: -O0 -g; -O2 */
#include "marker.h"
#include <csetjmp>
#include <stdexcept>

enum { COUNT = 10, STACK = 16 << 10, ROUNDS = 30 };

struct registers {
    void *rip, *rsp, *rbp, *rbx, *r12, *r13, *r14, *r15;
};
extern "C" void switch_registers(registers *from, registers *to);
__asm__(".text\n.globl switch_registers\n.type switch_registers,@function\nswitch_registers:\n"
        " lea 1f(%rip), %rax\n mov %rax, (%rdi)\n mov %rsp, 8(%rdi)\n mov %rbp, 16(%rdi)\n mov "
        "%rbx, 24(%rdi)\n"
        " mov %r12, 32(%rdi)\n mov %r13, 40(%rdi)\n mov %r14, 48(%rdi)\n mov %r15, 56(%rdi)\n"
        " mov 56(%rsi), %r15\n mov 48(%rsi), %r14\n mov 40(%rsi), %r13\n mov 32(%rsi), %r12\n mov "
        "24(%rsi), %rbx\n"
        " mov 16(%rsi), %rbp\n mov 8(%rsi), %rsp\n jmp *(%rsi)\n1: ret\n.size "
        "switch_registers,.-switch_registers\n");

static registers fibers[COUNT], outside;
static volatile long sum;
static volatile int current, ended;

__attribute__((noinline)) static void step(int n)
{
    sum = sum + n;
}

__attribute__((noinline)) static void yield()
{
    truth_marker();
    switch_registers(&fibers[current], &outside);
    truth_marker();
}

__attribute__((noinline)) static void fails(int depth)
{
    if (depth == 0)
        throw 1;
    fails(depth - 1);
    step(depth);
}

__attribute__((noinline)) static void jumps(jmp_buf *buffer, int depth)
{
    if (depth == 0)
        longjmp(*buffer, 1);
    jumps(buffer, depth - 1);
    step(depth);
}

__attribute__((noinline)) static void descend(int depth)
{
    volatile int here = depth;
    if (depth > 0)
        descend(depth - 1);
    else
        yield();
    try {
        if (here % 2)
            fails(here);
    } catch (int) {
        truth_marker();
        yield();
    }
    jmp_buf buffer;
    if (here % 3 == 0 && !setjmp(buffer))
        jumps(&buffer, 4);
    truth_marker();
}

__attribute__((noinline)) static void body()
{
    for (int i = 0; i < ROUNDS; i++)
        descend(i % 5);
    ended = ended + 1;
    switch_registers(&fibers[current], &outside);
}

__attribute__((noinline)) static void resume(int number)
{
    current = number;
    switch_registers(&outside, &fibers[number]);
    truth_marker();
}

int main()
{
    char *stacks = (char *)calloc(COUNT, STACK);
    for (int i = 0; i < COUNT; i++) {
        void **top = (void **)(stacks + (i + 1) * STACK - 56);
        top[0] = nullptr;
        fibers[i] = registers{(void *)body, top, 0, 0, 0, 0, 0, 0};
    }
    for (int i = 0; ended == 0; i++)
        resume((i * 7) % COUNT);
    printf("%ld\n", sum);
    return 0;
}
