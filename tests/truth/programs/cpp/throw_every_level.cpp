/* Recursion with a handler at every level, whose handler goes on recursing with another exception.
 */
/* truth: -O0 -g; -O2; strip -O2; compiler=clang++ -std=c++17 -O2 */
#include <cstdio>

static volatile int handlers;

[[gnu::noinline]] static void fail(int depth, int level)
{
    if (depth > 0)
        fail(depth - 1, level);
    else
        throw level;
    handlers = handlers - 1000;
}

[[gnu::noinline]] static int visit(int level)
{
    if (level == 0)
        return 0;
    try {
        fail(level % 4, level);
    } catch (int value) {
        handlers = handlers + 1;
        return visit(level - 1) + value;
    }
    return -1;
}

/* Handled by the level that threw, the one above, or the one five above. */
[[gnu::noinline]] static int levels(int level, int distance)
{
    volatile int here = level;
    try {
        if (level == 30)
            throw level - distance;
        return levels(level + 1, distance) + (here != level);
    } catch (int goal) {
        if (goal != level)
            throw;
        return goal;
    }
}

int main()
{
    int sum = 0, goals = 0;
    for (int i = 0; i < 30; i++)
        sum += visit(i);
    for (int i = 0; i < 10; i++)
        goals += levels(0, 0) + levels(0, 1) + levels(0, 5) + levels(0, 30);
    std::printf("sum %d goals %d handlers %d\n", sum, goals, handlers);
    return sum == 4495 && goals == 840 && handlers == 435 ? 0 : 1;
}
