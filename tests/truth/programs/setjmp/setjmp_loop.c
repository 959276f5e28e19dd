/* One setjmp whose longjmp comes back again and again, and one that is called again in every turn
 * of a loop. */
/* truth: -O0 -g; -O2; -O2 -static; strip -O2; compiler=clang -O2 */
#include <setjmp.h>
#include <stdio.h>

static jmp_buf target;
static volatile int calls;

__attribute__((noinline)) static void jump_from(int depth, int value)
{
    calls++;
    if (depth == 0)
        longjmp(target, value);
    jump_from(depth - 1, value);
    calls++;
}

__attribute__((noinline)) static int same_target(void)
{
    int count = setjmp(target);
    if (count < 100)
        jump_from(count % 7, count + 1);
    return count;
}

__attribute__((noinline)) static int new_target(void)
{
    volatile int sum = 0;
    for (volatile int i = 0; i < 100; i++) {
        if (setjmp(target) == 0)
            jump_from(i % 5, 1);
        else
            sum = sum + i;
    }
    return sum;
}

int main(void)
{
    int count = same_target(), sum = new_target();
    printf("count %d sum %d calls %d\n", count, sum, calls);
    return count == 100 && sum == 4950 && calls == 695 ? 0 : 1;
}
