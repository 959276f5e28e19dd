/* Variable arguments: the printf family into buffers, and functions with a va_list of their own. */
/* truth: -O0 -g; -O2; -O2 -D_FORTIFY_SOURCE=2; -O2 -static; strip -O2 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

__attribute__((noinline)) static long sum_list(int count, va_list arguments)
{
    if (count == 0)
        return 0;
    volatile int value = va_arg(arguments, int);
    return sum_list(count - 1, arguments) + value;
}

__attribute__((noinline)) static long sum(int count, ...)
{
    va_list arguments;
    va_start(arguments, count);
    long value = sum_list(count, arguments);
    va_end(arguments);
    return value;
}

__attribute__((noinline, format(printf, 2, 3))) static int append(char *text, const char *format,
                                                                  ...)
{
    va_list arguments;
    va_start(arguments, format);
    int length = vsprintf(text + strlen(text), format, arguments);
    va_end(arguments);
    return length;
}

int main(void)
{
    long total = 0;
    for (int i = 0; i < 100; i++) {
        char text[200] = "", again[300];
        total += append(text, "%d %s %5.2f", i, "words", i / 4.0);
        total += append(text, "%c %lx %%", 'a' + i % 26, 1000L * i);
        snprintf(again, sizeof again, "[%-20s|%20s]", text, "right");
        int first = -1;
        if (sscanf(again, "[%d", &first) != 1 || first != i)
            return 1;
        total += sum(6, i, 1, 2, 3, 4, 5) + sum(10, i, i, i, i, i, i, i, i, i, i);
    }
    printf("total %ld\n", total);
    return total == 58167 ? 0 : 1;
}
