/* Lines that hold more or less than a statement: loops within a line, statements of several lines, jumps out of loops.
 * How often each runs is gcov's to say (tests/e2e/analysis/code_counts.py). */
#include <stdio.h>
#include <string.h>

/* It would put each statement on a line of its own. */
/* clang-format off */

static int sum_of(const int *from, int count)
{
    int sum = 0;
    for (int i = 0; i < count; i++) sum += from[i];
    while (sum > 50) sum -= 7;
    do sum++; while (sum % 5);
    return sum;
}

static int three(int a, int b, int c)
{
    return a + b + c;
}

static int find(const int *in, int count, int wanted)
{
    int at = 0, steps = 0;
    while (1) {
        if (at >= count) break;
        if (in[at] == wanted) break;
        at++;
        if (in[at - 1] == 3) continue;
        steps++;
        if (at > count / 2 && steps > 4) break;
        steps += at % 2;
    }
    return at + steps;
}

static int of_several_lines(const int *from, int at)
{
    int value = three(from[at],
                      from[at + 1] * 2,
                      from[at + 2]);
    if (value > 3 &&
        value < 20 &&
        value != 12)
        value = value > 9
                    ? value - 9
                    : value + 1;
    return value;
}

int main(void)
{
    int numbers[] = {3, 1, 4, 1, 5, 9, 2, 6, 5, 3}, total = 0;
    for (int i = 0; i < 8; i++) {
        total += sum_of(numbers, i);
        total += find(numbers, 10, i);
        total += of_several_lines(numbers, i);
        if (strlen("abc") == 3 && i % 3 == 0) { total++; total *= 2; }
    }
    printf("%d\n", total);
    return 0;
}
