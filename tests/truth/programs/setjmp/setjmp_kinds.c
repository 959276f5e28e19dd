/* The kinds of setjmp: setjmp, _setjmp, sigsetjmp with and without the mask; longjmp, _longjmp,
 * siglongjmp. */
/* truth: -O0 -g; -O2; -O2 -D_FORTIFY_SOURCE=2; -O2 -static -D_FORTIFY_SOURCE=2; strip -O2 */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdio.h>

static sigjmp_buf target;

__attribute__((noinline)) static int dive(int kind, int depth)
{
    volatile int here = depth;
    if (depth > 0)
        return dive(kind, depth - 1) + here;
    if (kind == 0)
        longjmp(target, 1);
    if (kind == 1)
        _longjmp(target, 2);
    siglongjmp(target, 1 + kind);
}

__attribute__((noinline)) static int plain(int depth)
{
    int value = setjmp(target);
    return value == 0 ? dive(0, depth) : value;
}

__attribute__((noinline)) static int underscore(int depth)
{
    int value = _setjmp(target);
    return value == 0 ? dive(1, depth) : value;
}

__attribute__((noinline)) static int without_mask(int depth)
{
    int value = sigsetjmp(target, 0);
    return value == 0 ? dive(2, depth) : value;
}

__attribute__((noinline)) static int with_mask(int depth)
{
    int value = sigsetjmp(target, 1);
    return value == 0 ? dive(3, depth) : value;
}

int main(void)
{
    int sum = 0;
    for (int i = 0; i < 25; i++)
        sum += plain(i) + underscore(i) + without_mask(i) + with_mask(i);
    printf("sum %d\n", sum);
    return sum == 250 ? 0 : 1;
}
