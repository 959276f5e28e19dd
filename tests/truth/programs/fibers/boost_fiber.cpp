/* Boost.Fiber: a scheduler's fibers, which yield, wait for each other by channels, conditions and futures, and sleep. */
/* truth: -O0 -g; -O2; strip -O2 */
/* truth-needs: boost/fiber/all.hpp */
/* truth-link: -lboost_fiber -lboost_context */
#include "marker.h"
#include <boost/fiber/all.hpp>
#include <cstdio>
#include <vector>

namespace fibers = boost::fibers;

static volatile long sum;

__attribute__((noinline)) static void leaf(int value)
{
    sum = sum + value;
    truth_marker();
}

__attribute__((noinline)) static void descend(int depth)
{
    volatile int here = depth;
    if (depth == 0) {
        boost::this_fiber::yield();
        leaf(1);
        return;
    }
    descend(depth - 1);
    leaf(here);
}

__attribute__((noinline)) static int square(int value)
{
    descend(value);
    return value * value;
}

int main()
{
    fibers::buffered_channel<int> channel{2};
    fibers::fiber producer{[&channel] {
        for (int i = 1; i <= 6; i++) {
            leaf(i);
            channel.push(i);
        }
        channel.close();
    }};
    fibers::fiber consumer{[&channel] {
        for (int value; channel.pop(value) == fibers::channel_op_status::success;)
            descend(value % 3);
    }};
    std::vector<fibers::fiber> others;
    for (int i = 0; i < 3; i++)
        others.emplace_back([i] { descend(i + 2); });
    fibers::future<int> result = fibers::async(square, 4);
    leaf(result.get());
    producer.join();
    consumer.join();
    for (auto &other : others)
        other.join();
    leaf(100);
    std::printf("sum %ld\n", sum);
    return sum > 0 ? 0 : 1;
}
