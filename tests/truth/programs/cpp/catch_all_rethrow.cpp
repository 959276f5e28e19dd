/* catch (...) and throw again at every level, with different types of exceptions on the way. */
/* truth: -O0 -g; -O2; strip -O2; compiler=clang++ -std=c++17 -O2 */
#include <cstdio>
#include <string>

static volatile int seen;

[[gnu::noinline]] static int work(int depth)
{
    volatile int here = depth;
    return depth == 0 ? 0 : work(depth - 1) + (here == depth);
}

[[gnu::noinline]] static void fail(int kind)
{
    if (kind == 0)
        throw 1;
    if (kind == 1)
        throw 2.5;
    if (kind == 2)
        throw std::string("three");
    throw static_cast<const char *>("four");
}

[[gnu::noinline]] static int dive(int depth, int kind)
{
    try {
        if (depth == 0)
            fail(kind);
        return dive(depth - 1, kind) + 1;
    } catch (...) {
        seen = seen + work(depth % 3);
        throw;
    }
}

[[gnu::noinline]] static int classify(int depth, int kind)
{
    try {
        return dive(depth, kind);
    } catch (int) {
        return 0;
    } catch (double) {
        return 1;
    } catch (const std::string &text) {
        return static_cast<int>(text.size()) - 3;
    } catch (...) {
        return 3;
    }
}

int main()
{
    int right = 0;
    for (int i = 0; i < 40; i++)
        right += classify(i, i % 4) == i % 4;
    std::printf("right %d seen %d\n", right, seen);
    return right == 40 && seen == 793 ? 0 : 1;
}
