/* Large switch statements compiled to jump tables, with calls in their cases and recursion through
 * them. */
/* truth: -O0 -g; -O2; -O2 -fno-jump-tables; -O2 -static; strip -O2; compiler=clang -O2 */
#include <stdio.h>

static volatile int calls;

__attribute__((noinline)) static int leaf(int value)
{
    calls++;
    return value * 3 % 101;
}

__attribute__((noinline)) static int evaluate(int node, int depth)
{
    calls++;
    if (depth == 0)
        return leaf(node);
    switch (node % 12) {
    case 0:
        return leaf(node) + evaluate(node + 1, depth - 1);
    case 1:
        return evaluate(node + 2, depth - 1) - leaf(depth);
    case 2:
        return leaf(leaf(node));
    case 3:
        return evaluate(node / 2, depth - 1) + evaluate(node / 3, depth - 1);
    case 4:
        return leaf(depth) ^ evaluate(node * 5, depth - 1);
    case 5:
        return evaluate(node * 7 + 1, depth - 1);
    case 6:
        return node;
    case 7:
        return evaluate(leaf(node), depth - 1);
    case 8:
        return -evaluate(node + 11, depth - 1);
    case 9:
        return evaluate(node + 3, depth - 1) + evaluate(node + 9, depth - 1);
    case 10:
        return leaf(evaluate(node + 1, depth - 1) & 1023);
    default:
        return 1;
    }
}

int main(void)
{
    int sum = 0;
    for (int i = 0; i < 300; i++)
        sum += evaluate(i, 12);
    printf("sum %d calls %d\n", sum, calls);
    return sum == 108382 && calls == 15553 ? 0 : 1;
}
