/* Catches exceptions at the same depth again and again, so often that a small ring holds several, and has forgotten how the
 * program got there. Ends there: no return shows the callers. Prints nothing. */
#include <cstdlib>

static volatile unsigned sink;

__attribute__((noinline)) static void step(unsigned i)
{
    if (i % 3)
        sink = sink + i;
}

__attribute__((noinline)) static void fail(int depth)
{
    if (depth == 0)
        throw depth;
    fail(depth - 1);
    sink = sink + 1;
}

__attribute__((noinline)) static void work()
{
    for (unsigned i = 0; i < 10000; i++)
        step(i);
}

__attribute__((noinline)) static void work_on()
{
    for (unsigned i = 0; i < 100; i++) {
        try {
            fail(5);
        } catch (int) {
            work();
        }
    }
    std::_Exit(0);
}

__attribute__((noinline)) static int dig(int depth)
{
    if (depth == 0)
        work_on();
    else
        dig(depth - 1);
    return depth + (int)sink; /* no tail call */
}

__attribute__((noinline)) static int serve()
{
    return dig(20) != 0;
}

int main()
{
    return serve() - 1;
}
