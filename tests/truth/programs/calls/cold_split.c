/* Functions whose unlikely part lies far away (f.cold): into it, calls from it, and back into the
 * hot part. */
/* truth: -O2; -O2 -freorder-blocks-and-partition -g; -O3; -O2 -static; strip -O2 */
#include <stdio.h>

static volatile int errors, calls;

__attribute__((noinline, cold)) static int report(int value)
{
    errors++;
    return value % 10;
}

__attribute__((noinline)) static int check(int value)
{
    calls++;
    return value % 7;
}

/* The unlikely part calls, and comes back to where the loop goes on. */
__attribute__((noinline)) static int returns_to_hot(int value)
{
    int sum = 0;
    for (int i = 0; i < 10; i++) {
        int state = check(value + i);
        if (__builtin_expect(state == 3, 0)) {
            sum += report(value + i);
            sum += check(sum);
            if (sum % 2)
                sum += report(sum);
        }
        sum += check(sum + state);
    }
    return sum;
}

/* The unlikely part ends the function itself, with a tail call. */
__attribute__((noinline)) static int leaves_from_cold(int value)
{
    if (__builtin_expect(check(value) == 5, 0)) {
        report(value);
        return report(value + 1);
    }
    return check(value + 2);
}

int main(void)
{
    int sum = 0;
    for (int i = 0; i < 500; i++)
        sum += returns_to_hot(i) + leaves_from_cold(i);
    printf("sum %d errors %d calls %d\n", sum, errors, calls);
    return sum == 24962 ? 0 : 1;
}
