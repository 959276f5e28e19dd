/* Destructors, noexcept, that throw and catch inside while an exception is on its way. */
/* truth: -O0 -g; -O2; strip -O2; compiler=clang++ -std=c++17 -O2 */
#include <cstdio>
#include <exception>

static volatile int inner_caught, during_unwinding;

[[gnu::noinline]] static int fail(int depth)
{
    volatile int here = depth;
    if (depth == 0)
        throw 'x';
    return fail(depth - 1) + here;
}

struct guard {
    explicit guard(int depth) : depth(depth)
    {
    }
    guard(const guard &) = delete;
    guard &operator=(const guard &) = delete;
    ~guard() noexcept
    {
        during_unwinding = during_unwinding + (std::uncaught_exceptions() > 0);
        try {
            if (depth > 1) {
                guard smaller(depth / 2);
                fail(depth);
            }
            fail(2);
        } catch (char) {
            inner_caught = inner_caught + 1;
        }
    }
    int depth;
};

[[gnu::noinline]] static int dive(int depth)
{
    guard here(depth);
    if (depth == 0)
        throw 1;
    return dive(depth - 1) + here.depth;
}

int main()
{
    int caught = 0;
    for (int i = 0; i < 16; i++) {
        try {
            dive(i);
        } catch (int value) {
            caught += value;
        }
    }
    std::printf("caught %d inner %d unwinding %d\n", caught, inner_caught, during_unwinding);
    return caught == 16 && inner_caught == 355 && during_unwinding == inner_caught ? 0 : 1;
}
