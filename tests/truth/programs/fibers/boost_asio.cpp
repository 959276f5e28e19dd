/* Boost.Asio's coroutines with stacks (spawn): several wait in an event loop, in turn, exceptions pass through their waits, one begins
 * another. */
/* truth: -O0 -g; -O2; strip -O2 */
/* truth-needs: boost/coroutine/all.hpp */
/* truth-link: -lboost_coroutine -lboost_context -lboost_thread -lpthread */
#include <boost/asio.hpp>
#include <boost/asio/spawn.hpp>
#include <stdexcept>
#include <vector>

#include "marker.h"

namespace asio = boost::asio;
static int sum;

__attribute__((noinline)) static void wait_in(asio::io_context &io, asio::yield_context yield,
                                              int depth)
{
    if (depth > 0) {
        wait_in(io, yield, depth - 1);
        truth_marker();
        return;
    }
    asio::steady_timer timer(io, std::chrono::microseconds(0));
    truth_marker();
    timer.async_wait(yield);
    truth_marker();
}

__attribute__((noinline)) static void fail_in(asio::io_context &io, asio::yield_context yield)
{
    wait_in(io, yield, 2);
    throw std::runtime_error("expected");
}

__attribute__((noinline)) static void work(asio::io_context &io, asio::yield_context yield,
                                           int number)
{
    for (int round = 0; round < 6; round++) {
        wait_in(io, yield, (number * 3 + round) % 5);
        asio::post(io, yield);
        truth_marker();
        try {
            if (round % 2)
                fail_in(io, yield);
        } catch (const std::runtime_error &) {
            sum++;
            truth_marker();
        }
    }
}

int main()
{
    asio::io_context io;
    for (int number = 0; number < 5; number++)
        asio::spawn(io, [&io, number](asio::yield_context yield) { work(io, yield, number); });
    asio::spawn(io, [&io](asio::yield_context yield) {
        asio::spawn(yield, [&io](asio::yield_context inner) { wait_in(io, inner, 3); });
        truth_marker();
        wait_in(io, yield, 1);
    });
    io.run();
    truth_marker();
    return sum == 15 ? 0 : 1;
}
