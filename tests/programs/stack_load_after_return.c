/* In a loop, a call returns to an instruction that loads the stack pointer, while rcx and rdx hold values that the call leaves
 * alone. Writes how often they were lost.
 */
#include <stdint.h>
#include <stdio.h>

enum { TURNS = 200000 };

__asm__(".pushsection .text\n"
        "leaf: incl %eax\n"
        "ret\n"
        ".popsection");

int main(void)
{
    unsigned lost = 0;
    for (uint64_t turn = 1; turn <= TURNS; turn++) {
        uint64_t third = turn, fourth = ~turn;
        __asm__ volatile("subq $128, %%rsp\n" /* the red zone */
                         "pushq %%rsp\n"
                         "call leaf\n"
                         "popq %%rsp\n"
                         "subq $-128, %%rsp\n"
                         : "+d"(third), "+c"(fourth)
                         :
                         : "rax", "memory", "cc");
        lost += third != turn || fourth != ~turn;
    }
    printf("lost %u times\n", lost);
    return 0;
}
