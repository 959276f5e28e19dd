/* An interpreter with computed goto, whose operations call functions and the interpreter itself. */
/* truth: -O0 -g; -O2; -O2 -static; strip -O2; compiler=clang -O2 */
#include <stdio.h>

enum operation { PUSH_ONE, ADD, DOUBLE, CALL_LOWER, SKIP_IF_ZERO, STOP };

/* value(n) = n == 0 ? 1 : 2 * value(n - 1) + 1 */
static const unsigned char code[] = {SKIP_IF_ZERO, CALL_LOWER, DOUBLE, PUSH_ONE, ADD, STOP};

__attribute__((noinline)) static long add(long a, long b)
{
    return a + b;
}

static long interpret(int level)
{
    static const void *const labels[] = {&&push_one,   &&add_two,      &&twice,
                                         &&call_lower, &&skip_if_zero, &&stop};
    const unsigned char *at = code;
    long stack[8], *top = stack;
#define NEXT goto *labels[*at++]
    NEXT;
push_one:
    *++top = 1;
    NEXT;
add_two:
    top--;
    *top = add(top[0], top[1]);
    NEXT;
twice:
    *top = add(*top, *top);
    NEXT;
call_lower:
    *++top = interpret(level - 1);
    NEXT;
skip_if_zero:
    if (level == 0) {
        *++top = 1;
        at += 4;
    }
    NEXT;
stop:
    return *top;
}

int main(void)
{
    long sum = 0;
    for (int i = 0; i < 40; i++)
        sum += interpret(i);
    printf("sum %ld\n", sum);
    return sum == (2L << 40) - 2 - 40 ? 0 : 1;
}
