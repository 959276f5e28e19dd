/* Boost.Context: fibers that switch by jump_fcontext from any depth, begin others, end, throw inside, and use stacks
 * again. A new one begins at a label inside make_fcontext. */
/* truth: -O0 -g; -O2; -O2 -static; strip -O2 */
/* truth-needs: boost/context/fiber.hpp */
/* truth-link: -lboost_context */
#include "marker.h"
#include <boost/context/fiber.hpp>
#include <cstdio>
#include <stdexcept>
#include <utility>
#include <vector>

namespace context = boost::context;

static volatile long sum;

__attribute__((noinline)) static void leaf(int value)
{
    sum = sum + value;
    truth_marker();
}

__attribute__((noinline)) static void yield(context::fiber &back)
{
    leaf(1);
    back = std::move(back).resume();
    leaf(2);
}

__attribute__((noinline)) static void descend(context::fiber &back, int depth)
{
    volatile int here = depth;
    if (depth > 0)
        descend(back, depth - 1);
    else
        yield(back);
    if (here % 2)
        yield(back);
    sum = sum + here;
}

__attribute__((noinline)) static void fail(int depth)
{
    if (depth == 0)
        throw std::runtime_error("out");
    fail(depth - 1);
    sum = sum + depth;
}

__attribute__((noinline)) static context::fiber begin(int number)
{
    return context::fiber{[number](context::fiber &&back) {
        descend(back, 2 + number);
        try {
            fail(number);
        } catch (const std::exception &) {
            leaf(3);
        }
        context::fiber inner{[&back](context::fiber &&outer) {
            descend(outer, 3);
            return std::move(outer);
        }};
        while (inner) {
            inner = std::move(inner).resume();
            yield(back);
        }
        leaf(4);
        return std::move(back);
    }};
}

__attribute__((noinline)) static bool resume_all(std::vector<context::fiber> &fibers)
{
    bool any = false;
    for (auto &fiber : fibers)
        if (fiber) {
            fiber = std::move(fiber).resume();
            leaf(5);
            any = true;
        }
    return any;
}

int main()
{
    for (int round = 0; round < 3; round++) {
        std::vector<context::fiber> fibers;
        for (int i = 0; i < 4; i++)
            fibers.push_back(begin(i));
        while (resume_all(fibers))
            leaf(6);
    }
    std::printf("sum %ld\n", sum);
    return sum > 0 ? 0 : 1;
}
