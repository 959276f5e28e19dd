/* Functions chosen by a resolver at relocation (ifunc), called directly, through a pointer and in a
 * tail call. */
/* truth: -O0 -g; -O2; -O2 -fno-plt; -O2 -Wl,-z,now; -O2 -static; strip -O2; compiler=clang -O2 */
#include <stdio.h>

static int resolved;

__attribute__((noinline)) static int slow_power(int base, int exponent)
{
    volatile int here = base;
    return exponent == 0 ? 1 : slow_power(base, exponent - 1) * here;
}

__attribute__((noinline)) static int fast_power(int base, int exponent)
{
    if (exponent == 0)
        return 1;
    int half = fast_power(base, exponent / 2);
    return half * half * (exponent % 2 ? base : 1);
}

typedef int power_function(int, int);

/* The linker's relocations call the resolvers, before main. */
__attribute__((used)) static power_function *resolve_slow(void)
{
    resolved++;
    return slow_power;
}

__attribute__((used)) static power_function *resolve_fast(void)
{
    resolved++;
    return fast_power;
}

int first_power(int, int) __attribute__((ifunc("resolve_slow")));
int second_power(int, int) __attribute__((ifunc("resolve_fast")));

__attribute__((noinline)) static int in_tail(int base, int exponent)
{
    return second_power(base, exponent);
}

int main(void)
{
    power_function *volatile pointer = first_power;
    int right = 0;
    for (int i = 0; i < 100; i++) {
        int a = first_power(2, i % 20), b = pointer(2, i % 20), c = in_tail(2, i % 20);
        right += a == 1 << i % 20 && b == a && c == a;
    }
    printf("right %d, resolvers ran %d times\n", right, resolved);
    return right == 100 ? 0 : 1;
}
