/* Calls that end a function and become jumps: to siblings, in a circle, through pointers, and into
 * libc. */
/* truth: -O2; -O2 -fno-plt; -O2 -static; strip -O2; compiler=clang -O2; -O0 -g */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static volatile int steps;

__attribute__((noinline)) static int finish(int value)
{
    steps++;
    return value + 1;
}

static int odd(int number, int value);

__attribute__((noinline)) static int even(int number, int value)
{
    steps++;
    return number == 0 ? finish(value) : odd(number - 1, value + 2);
}

__attribute__((noinline)) static int odd(int number, int value)
{
    steps++;
    return number == 0 ? finish(value) : even(number - 1, value + 3);
}

typedef int operation(int, int);

__attribute__((noinline)) static int through(operation *next, int number, int value)
{
    steps++;
    return next(number, value);
}

__attribute__((noinline)) static size_t length(const char *text)
{
    steps++;
    return strlen(text);
}

__attribute__((noinline)) static long parse(const char *text)
{
    steps++;
    return strtol(text, NULL, 10);
}

int main(void)
{
    static operation *volatile const table[] = {even, odd};
    long sum = 0;
    for (int i = 0; i < 40; i++) {
        sum += even(i, 0) + through(table[i % 2], i, i);
        sum += (long)length(&"tail"[i % 5]) + parse("123");
    }
    printf("sum %ld after %d steps\n", sum, steps);
    return sum == 9760 && steps == 1840 ? 0 : 1;
}
