/* Boost.Coroutine2: push and pull, recursion through trees, exceptions out of coroutines, coroutines that are destroyed
 * before they end (forced unwinding). */
/* truth: -O0 -g; -O2; -O2 -static */
/* truth-needs: boost/coroutine2/all.hpp */
/* truth-link: -lboost_context */
#include "marker.h"
#include <boost/coroutine2/all.hpp>
#include <stdexcept>

using coroutine = boost::coroutines2::coroutine<int>;
static volatile long sum;

__attribute__((noinline)) static void step(int n)
{
    sum = sum + n;
}

struct guard {
    ~guard()
    {
        truth_marker();
        step(1);
    }
};

__attribute__((noinline)) static void walk(coroutine::push_type &out, int depth)
{
    guard leaves;
    if (depth == 0)
        return;
    walk(out, depth - 1);
    truth_marker();
    out(depth);
    truth_marker();
    walk(out, depth - 1);
}

__attribute__((noinline)) static void compare()
{
    coroutine::pull_type left([](coroutine::push_type &out) { walk(out, 4); });
    coroutine::pull_type right([](coroutine::push_type &out) { walk(out, 4); });
    while (left && right) {
        step(left.get() - right.get());
        truth_marker();
        left();
        right();
    }
}

__attribute__((noinline)) static void fails(int depth)
{
    if (depth == 0)
        throw std::runtime_error("out");
    fails(depth - 1);
    step(depth);
}

__attribute__((noinline)) static void throws()
{
    coroutine::pull_type source([](coroutine::push_type &out) {
        out(1);
        try {
            fails(3);
        } catch (const std::exception &) {
            truth_marker();
        }
        out(2);
        fails(5);
    });
    try {
        for (; source; source())
            truth_marker();
    } catch (const std::exception &) {
        truth_marker();
    }
}

__attribute__((noinline)) static void abandoned()
{
    coroutine::pull_type source([](coroutine::push_type &out) { walk(out, 3); });
    source();
    truth_marker();
}

__attribute__((noinline)) static void feeds()
{
    coroutine::push_type sink([](coroutine::pull_type &in) {
        for (auto value : in) {
            step(value);
            truth_marker();
        }
    });
    for (int i = 0; i < 5; i++)
        sink(i);
}

int main()
{
    for (int i = 0; i < 6; i++) {
        compare();
        throws();
        abandoned();
        feeds();
        truth_marker();
    }
    printf("%ld\n", sum);
    return 0;
}
