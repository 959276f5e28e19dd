/* Exceptions that threads throw and that std::future and std::promise carry into another thread. */
/* truth: -O0 -g -pthread; -O2 -pthread; -O2 -static -pthread; strip -O2 -pthread */
#include <cstdio>
#include <future>
#include <stdexcept>
#include <string>
#include <thread>

[[gnu::noinline]] static int dive(int depth)
{
    volatile int here = depth;
    if (depth == 0)
        throw std::runtime_error("from the depth");
    return dive(depth - 1) + here;
}

[[gnu::noinline]] static int from_async(int depth, std::launch policy)
{
    std::future<int> future = std::async(policy, dive, depth);
    try {
        return future.get();
    } catch (const std::runtime_error &error) {
        return static_cast<int>(std::string(error.what()).size());
    }
}

[[gnu::noinline]] static int from_promise(int depth)
{
    std::promise<int> promise;
    std::future<int> future = promise.get_future();
    std::thread thread([&] {
        try {
            promise.set_value(dive(depth));
        } catch (...) {
            promise.set_exception(std::current_exception());
        }
    });
    thread.join();
    try {
        return future.get();
    } catch (const std::exception &) {
        return depth;
    }
}

[[gnu::noinline]] static int broken_promise()
{
    std::future<int> future;
    {
        std::promise<int> promise;
        future = promise.get_future();
    }
    try {
        return future.get();
    } catch (const std::future_error &error) {
        return error.code() == std::future_errc::broken_promise;
    }
}

int main()
{
    int right = 0;
    for (int depth = 0; depth < 12; depth++) {
        right += from_async(depth, std::launch::async) == 14;
        right += from_async(depth, std::launch::deferred) == 14;
        right += from_promise(depth) == depth;
        right += broken_promise();
    }
    std::printf("right %d\n", right);
    return right == 48 ? 0 : 1;
}
