/* `push` of an address and `ret`: a jump to a function, to one that returns here, and through a
 * chain. */
/* truth: -O0 -g; -O2; -O2 -static; strip -O2 */
#include <stdio.h>

long jump_by_return(long value);
long call_by_return(long value);
long chain_by_return(long value);
long finish(long value);

__asm__(".text\n"
        /* A tail call of finish. */
        ".type jump_by_return, @function\njump_by_return:\n"
        "\tleaq finish(%rip), %rax\n\tpushq %rax\n\tret\n"
        ".size jump_by_return, . - jump_by_return\n"
        /* A call of finish that pushes its return address by hand. */
        ".type call_by_return, @function\ncall_by_return:\n"
        "\tsubq $8, %rsp\n\tleaq 1f(%rip), %rax\n\tpushq %rax\n"
        "\tleaq finish(%rip), %rax\n\tpushq %rax\n\tret\n"
        "1:\taddq $8, %rsp\n\taddq $1, %rax\n\tret\n"
        ".size call_by_return, . - call_by_return\n"
        /* Three places visited by returns, as in return-oriented code. */
        ".type chain_by_return, @function\nchain_by_return:\n"
        "\tleaq finish(%rip), %rax\n\tpushq %rax\n"
        "\tleaq 3f(%rip), %rax\n\tpushq %rax\n"
        "\tleaq 2f(%rip), %rax\n\tpushq %rax\n\tret\n"
        "2:\taddq $10, %rdi\n\tret\n"
        "3:\taddq $20, %rdi\n\tret\n"
        ".size chain_by_return, . - chain_by_return\n");

__attribute__((noinline)) static long work(long depth)
{
    volatile long here = depth;
    return depth == 0 ? 0 : work(depth - 1) + (here == depth);
}

__attribute__((used, noinline)) long finish(long value)
{
    return work(value % 10) + value;
}

int main(void)
{
    long sum = 0;
    for (long i = 0; i < 100; i++)
        sum += jump_by_return(i) + call_by_return(i) + chain_by_return(i);
    printf("sum %ld\n", sum);
    return sum == 3 * 4950 + 3 * 450 + 100 + 3000 ? 0 : 1;
}
