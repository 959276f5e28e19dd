/* A library whose calls the test unwinds: built without frame pointers, which are of no use then.
 */
#include <stdint.h>
#include <string.h>

enum { SAVED_SIZE = 16384, REGISTERS = 17 };

/* What a sample saves. */
struct unwound_moment {
    uint64_t registers[REGISTERS]; /* in DWARF's order; but those that calls may change are 0 */
    uint8_t bytes[SAVED_SIZE];
    const uint8_t *top; /* of the stack: nothing after it can be read */
};

void innermost(struct unwound_moment *moment, int depth);
void middle(struct unwound_moment *moment, int depth);
void outermost(struct unwound_moment *moment, int depth);

/* No call in it changes the registers that it saves. */
__attribute__((noinline)) void innermost(struct unwound_moment *moment, int depth)
{
    uint64_t *registers = moment->registers;
    __asm__ volatile("movq %%rbx, 24(%0)\n"
                     "movq %%rbp, 48(%0)\n"
                     "movq %%rsp, 56(%0)\n"
                     "movq %%r12, 96(%0)\n"
                     "movq %%r13, 104(%0)\n"
                     "movq %%r14, 112(%0)\n"
                     "movq %%r15, 120(%0)\n"
                     "leaq 0(%%rip), %%rax\n"
                     "movq %%rax, 128(%0)\n"
                     :
                     : "r"(registers)
                     : "rax", "memory");
    const volatile uint8_t *stack = (const volatile uint8_t *)registers[7];
    for (int i = 0; i < SAVED_SIZE && stack + i < moment->top; i++)
        moment->bytes[i] = stack[i];
}

__attribute__((noinline)) void middle(struct unwound_moment *moment, int depth)
{
    volatile char room[200];
    room[depth] = 1;
    if (depth > 0)
        middle(moment, depth - 1);
    else
        innermost(moment, depth);
    room[depth] = 0;
}

__attribute__((noinline)) void outermost(struct unwound_moment *moment, int depth)
{
    volatile char room[50];
    room[depth] = 1;
    middle(moment, depth);
    room[depth] = 0;
}
