/* `call` that only fetches its own address, whose return address is popped and never returned to.
 */
/* truth: -O0 -g; -O2; -O2 -static; strip -O2; compiler=clang -O2 */
#include <stdint.h>
#include <stdio.h>

static volatile int right;

/* The red zone must not hold anything where the call pushes. */
__attribute__((noinline)) static uintptr_t here(void)
{
    uintptr_t address;
    __asm__ volatile("lea -128(%%rsp), %%rsp\n\tcall 1f\n1:\tpop %0\n\tlea 128(%%rsp), %%rsp"
                     : "=r"(address));
    return address;
}

/* The place that is called lies after some code and is not the next instruction. */
__attribute__((noinline)) static uintptr_t further_on(void)
{
    uintptr_t address;
    __asm__ volatile("lea -128(%%rsp), %%rsp\n\tcall 2f\n1:\tnop\n\tnop\n"
                     "2:\tpop %0\n\tlea 128(%%rsp), %%rsp"
                     : "=r"(address));
    return address;
}

/* The return address is thrown away by moving the stack pointer. */
__attribute__((noinline)) static int dropped(int value)
{
    __asm__ volatile("lea -128(%%rsp), %%rsp\n\tcall 1f\n1:\tadd $8, %%rsp\n"
                     "\tlea 128(%%rsp), %%rsp" ::
                         : "cc");
    return value + 1;
}

__attribute__((noinline)) static int recursion(int depth)
{
    volatile int depth_here = depth;
    uintptr_t before = here();
    if (depth > 0 && recursion(depth - 1) != depth_here)
        return -1;
    right += here() == before && further_on() != before;
    return dropped(depth_here);
}

int main(void)
{
    int value = 0;
    for (int i = 0; i < 30; i++)
        value += recursion(i) == i + 1;
    printf("value %d right %d\n", value, right);
    return value == 30 && right == 465 ? 0 : 1;
}
