/* Calls of one function that take other ways: other text (the 9th), another operation (the 13th), a longer text (the
 * 16th); and, with an argument, another end of the program. */
#include <stdio.h>

typedef int operation(int);

__attribute__((noinline)) static int twice(int x)
{
    return 2 * x;
}

__attribute__((noinline)) static int square(int x)
{
    return x * x;
}

static operation *const operations[] = {twice, square};

__attribute__((noinline)) static int parse(const char *text, int mode)
{
    int sum = 0;
    for (const char *c = text; *c; c++) {
        if (*c == '!')
            sum += 1000;
        sum += *c;
    }
    return operations[mode](sum);
}

int main(int argc, char **argv)
{
    int sum = 0;
    for (int i = 1; i <= 20; i++)
        sum += parse(i == 9 ? "hello !orld" : i == 16 ? "hello worlds" : "hello world", i == 13);
    if (argc > 1)
        puts(argv[1]);
    return sum == 0;
}
