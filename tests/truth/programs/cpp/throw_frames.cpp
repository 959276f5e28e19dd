/* Exceptions caught 1, 5 and 50 frames up. */
/* truth: -O0 -g; -O2; -O2 -static; strip -O2; compiler=clang++ -std=c++17 -O2 */
#include <cstdio>

static volatile int calls;

[[gnu::noinline]] static int dive(int depth)
{
    volatile int here = depth;
    calls = calls + 1;
    if (depth == 1)
        throw 7;
    return dive(depth - 1) + here;
}

[[gnu::noinline]] static int attempt(int depth)
{
    try {
        return dive(depth);
    } catch (int value) {
        return value;
    }
}

int main()
{
    static const int depths[] = {1, 5, 50};
    int sum = 0;
    for (int i = 0; i < 60; i++)
        sum += attempt(depths[i % 3]);
    std::printf("sum %d calls %d\n", sum, calls);
    return sum == 420 && calls == 20 * 56 ? 0 : 1;
}
