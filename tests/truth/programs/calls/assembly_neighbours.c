/* Hand-written functions that fall through into each other, share their ends, and are entered in
 * the middle. */
/* truth: -O0 -g; -O2; -O2 -static; strip -O2; compiler=clang -O2 */
#include <stdio.h>

long add_three(long value);
long add_two(long value);
long add_one(long value);
long add_two_from_middle(long value);
long with_frame(long value);
long borrow_end(long value);
long two_entries_long(long value);
long two_entries_short(long value);
long count_call(long value);

__asm__(".text\n"
        ".type add_three, @function\nadd_three:\n\taddq $1, %rdi\n"
        ".size add_three, . - add_three\n"
        ".type add_two, @function\nadd_two:\n\taddq $1, %rdi\n"
        "add_two_middle:\n\tnop\n"
        ".size add_two, . - add_two\n"
        ".type add_one, @function\nadd_one:\n"
        "\tsubq $8, %rsp\n\taddq $1, %rdi\n\tcall count_call\n\taddq $8, %rsp\n\tret\n"
        ".size add_one, . - add_one\n"
        ".type add_two_from_middle, @function\nadd_two_from_middle:\n"
        "\taddq $1, %rdi\n\tjmp add_two_middle\n"
        ".size add_two_from_middle, . - add_two_from_middle\n"
        /* The frame is built here; borrow_end builds the same and uses this function's end. */
        ".type with_frame, @function\nwith_frame:\n"
        "\tpushq %rbx\n\tmovq %rdi, %rbx\n\tcall count_call\n"
        "with_frame_end:\n\taddq %rbx, %rax\n\tpopq %rbx\n\tret\n"
        ".size with_frame, . - with_frame\n"
        ".type borrow_end, @function\nborrow_end:\n"
        "\tpushq %rbx\n\tleaq 5(%rdi), %rbx\n\tmovq %rbx, %rdi\n\tcall add_three\n"
        "\tjmp with_frame_end\n"
        ".size borrow_end, . - borrow_end\n"
        /* The second entry lies within the first function. */
        ".type two_entries_long, @function\ntwo_entries_long:\n\taddq $100, %rdi\n"
        ".type two_entries_short, @function\ntwo_entries_short:\n"
        "\tpushq %rdi\n\tcall count_call\n\tpopq %rdi\n\taddq %rdi, %rax\n\tret\n"
        ".size two_entries_short, . - two_entries_short\n"
        ".size two_entries_long, . - two_entries_long\n");

static volatile int calls;

__attribute__((noinline)) static long work(long depth)
{
    volatile long here = depth;
    return depth == 0 ? 0 : work(depth - 1) + (here == depth);
}

__attribute__((used, noinline)) long count_call(long value)
{
    calls++;
    return work(value % 4) * 0 + value;
}

int main(void)
{
    int right = 0;
    for (long i = 0; i < 200; i++) {
        right += add_three(i) == i + 3 && add_two(i) == i + 2 && add_one(i) == i + 1;
        right += add_two_from_middle(i) == i + 2 && with_frame(i) == 2 * i;
        right += borrow_end(i) == 2 * i + 13;
        right += two_entries_long(i) == 2 * i + 200 && two_entries_short(i) == 2 * i;
    }
    printf("right %d calls %d\n", right, calls);
    return right == 800 && calls == 1600 ? 0 : 1;
}
