/* Faults (SIGSEGV, SIGFPE, SIGILL) whose handler leaves through siglongjmp, as a language runtime
 * does. */
/* truth: -O0 -g; -O2; -O2 -static; strip -O2 */
#define _GNU_SOURCE
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>

static sigjmp_buf target;
static volatile int faults;
static int *volatile nowhere;

static void handle(int number)
{
    faults++;
    siglongjmp(target, number);
}

__attribute__((noinline)) static int divide(int dividend, int divisor)
{
    int quotient = dividend;
    __asm__ volatile("cltd\n\tidivl %1" : "+a"(quotient) : "r"(divisor) : "edx", "cc");
    return quotient;
}

__attribute__((noinline)) static int fault(int kind)
{
    if (kind == 0)
        return *nowhere;
    if (kind == 1)
        return divide(kind, 0);
    __asm__ volatile("ud2");
    return 0;
}

__attribute__((noinline)) static int dive(int depth, int kind)
{
    volatile int here = depth;
    return depth == 0 ? fault(kind) : dive(depth - 1, kind) + here;
}

__attribute__((noinline)) static int attempt(int depth, int kind)
{
    int value = sigsetjmp(target, 1);
    return value == 0 ? dive(depth, kind) : value;
}

int main(void)
{
    static const int numbers[] = {SIGSEGV, SIGFPE, SIGILL};
    for (int i = 0; i < 3; i++)
        signal(numbers[i], handle);
    int right = 0;
    for (int i = 0; i < 60; i++)
        right += attempt(i, i % 3) == numbers[i % 3];
    printf("%d of %d faults right\n", right, faults);
    return right == 60 && faults == 60 ? 0 : 1;
}
