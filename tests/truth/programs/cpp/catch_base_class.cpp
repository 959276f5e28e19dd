/* Handlers that do not match are passed over; the handler for a base class far up takes the
 * exception. */
/* truth: -O0 -g; -O2; strip -O2; compiler=clang++ -std=c++17 -O2 */
#include <cstdio>

struct base {
    virtual ~base() = default;
    virtual int rank() const
    {
        return 1;
    }
};

struct middle : base {
    int rank() const override
    {
        return 2;
    }
};

struct other {
    int padding = 5;
};

struct derived : other, middle {
    int rank() const override
    {
        return 3;
    }
};

static volatile int wrong;

[[gnu::noinline]] static int dive(int depth, int kind);

[[gnu::noinline]] static int passed_over(int depth, int kind)
{
    try {
        return dive(depth - 1, kind) + 1;
    } catch (int) {
        wrong = wrong + 1;
    } catch (const char *) {
        wrong = wrong + 1;
    }
    return 0;
}

[[gnu::noinline]] static int takes_middle(int depth, int kind)
{
    try {
        return dive(depth - 1, kind) + 1;
    } catch (const middle &object) {
        return 10 * object.rank();
    }
}

[[gnu::noinline]] static int dive(int depth, int kind)
{
    volatile int here = depth;
    if (depth <= 0) {
        if (kind == 0)
            throw base();
        if (kind == 1)
            throw middle();
        throw derived();
    }
    if (depth % 3 == 0)
        return passed_over(depth, kind) + (here != depth);
    if (depth == 10)
        return takes_middle(depth, kind);
    return dive(depth - 1, kind) + (here != depth);
}

[[gnu::noinline]] static int attempt(int depth, int kind)
{
    try {
        return dive(depth, kind);
    } catch (const base &object) {
        return object.rank();
    }
}

int main()
{
    int sum = 0;
    for (int i = 0; i < 60; i++)
        sum += attempt(i % 20, i % 3);
    std::printf("sum %d wrong %d\n", sum, wrong);
    return sum == 600 && wrong == 0 ? 0 : 1;
}
