/* One function calls setjmp at two places, and its callee at a third; jumps go to each. */
/* truth: -O0 -g; -O2; -O2 -static; strip -O2 */
#include <setjmp.h>
#include <stdio.h>

static jmp_buf first, second, inner;

__attribute__((noinline)) static void jump(int which, int depth)
{
    if (depth > 0)
        jump(which, depth - 1);
    longjmp(which == 1 ? first : which == 2 ? second : inner, which);
}

__attribute__((noinline)) static int inner_place(void)
{
    if (setjmp(inner) == 0)
        jump(3, 4);
    return 100;
}

__attribute__((noinline)) static int two_places(int depth)
{
    volatile int sum = 0;
    if (setjmp(first) == 0)
        jump(1, depth);
    else
        sum = sum + 1;
    sum = sum + inner_place();
    switch (setjmp(second)) {
    case 0:
        jump(2, depth);
        break;
    case 2:
        sum = sum + 10;
        break;
    }
    return sum;
}

int main(void)
{
    int sum = 0;
    for (int i = 0; i < 40; i++)
        sum += two_places(i % 9);
    printf("sum %d\n", sum);
    return sum == 40 * 111 ? 0 : 1;
}
