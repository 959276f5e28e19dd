/* Functions that return to their caller's caller, past data after the call, or pop their arguments
 * (ret $n). */
/* truth: -O0 -g; -O2; -O2 -static; strip -O2; compiler=clang -O2 */
#include <stdio.h>

long skip_caller(long value);
long past_data(void);
long pops_arguments(long first, long second);
long leave_two(long value);
long count_call(long value);

__asm__(".text\n"
        /* unless_odd is its helper: for an odd value it returns to skip_caller's caller. */
        ".type unless_odd, @function\nunless_odd:\n"
        "\ttestq $1, %rdi\n\tjz 1f\n\taddq $8, %rsp\n\tmovq $-1, %rax\n1:\tret\n"
        ".size unless_odd, . - unless_odd\n"
        ".type skip_caller, @function\nskip_caller:\n"
        "\tcall unless_odd\n\tjmp count_call\n.size skip_caller, . - skip_caller\n"
        /* take_number returns after the eight bytes that follow the call. */
        ".type take_number, @function\ntake_number:\n"
        "\tpopq %rcx\n\tmovq (%rcx), %rax\n\taddq $8, %rcx\n\tpushq %rcx\n\tret\n"
        ".size take_number, . - take_number\n"
        ".type past_data, @function\npast_data:\n"
        "\tcall take_number\n\t.quad 1000\n\taddq $5, %rax\n\tret\n"
        ".size past_data, . - past_data\n"
        /* Arguments on the stack, removed by the callee. */
        ".type add_and_pop, @function\nadd_and_pop:\n"
        "\tmovq 8(%rsp), %rdi\n\taddq 16(%rsp), %rdi\n\tcall count_call\n"
        "\tret $16\n.size add_and_pop, . - add_and_pop\n"
        ".type pops_arguments, @function\npops_arguments:\n"
        "\tpushq %rdi\n\tpushq %rsi\n\tcall add_and_pop\n\taddq $1, %rax\n\tret\n"
        ".size pops_arguments, . - pops_arguments\n"
        /* Two frames at once: the innermost restores the outermost's stack pointer. */
        ".type leave_two, @function\nleave_two:\n"
        "\tpushq %rbp\n\tmovq %rsp, %rbp\n\tcall leave_middle\n\tmovq $-1000, %rax\n"
        "\tpopq %rbp\n\tret\n.size leave_two, . - leave_two\n"
        ".type leave_middle, @function\nleave_middle:\n\tpushq %rdi\n\tcall leave_inner\n"
        "\tud2\n.size leave_middle, . - leave_middle\n"
        ".type leave_inner, @function\nleave_inner:\n"
        "\tsubq $8, %rsp\n\tcall count_call\n\tleave\n\tret\n.size leave_inner, . - leave_inner\n");

static volatile int calls;

__attribute__((noinline)) static long work(long depth)
{
    volatile long here = depth;
    return depth == 0 ? 0 : work(depth - 1) + (here == depth);
}

__attribute__((used, noinline)) long count_call(long value)
{
    calls++;
    return work(value % 3) == value % 3 ? value : -1;
}

__attribute__((noinline)) static int all_right(long i)
{
    return skip_caller(i) == (i % 2 ? -1 : i) && past_data() == 1005 &&
           pops_arguments(i, 2) == i + 3 && leave_two(i) == i;
}

int main(void)
{
    int right = 0;
    for (long i = 0; i < 200; i++)
        right += all_right(i);
    printf("right %d calls %d\n", right, calls);
    return right == 200 && calls == 500 ? 0 : 1;
}
