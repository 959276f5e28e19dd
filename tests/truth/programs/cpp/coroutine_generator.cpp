/* C++20 coroutines as generators: a recursive walk that yields through all its levels, and one
 * thrown out of. */
/* truth: -O0 -g -std=c++20; -O2 -std=c++20; strip -O2 -std=c++20 */
#include <coroutine>
#include <cstdio>
#include <exception>
#include <utility>

class generator
{
  public:
    struct promise_type {
        int value = 0;
        std::exception_ptr thrown;
        generator get_return_object()
        {
            return generator(handle::from_promise(*this));
        }
        std::suspend_always initial_suspend()
        {
            return {};
        }
        std::suspend_always final_suspend() noexcept
        {
            return {};
        }
        std::suspend_always yield_value(int next)
        {
            value = next;
            return {};
        }
        void return_void()
        {
        }
        void unhandled_exception()
        {
            thrown = std::current_exception();
        }
    };
    using handle = std::coroutine_handle<promise_type>;

    explicit generator(handle coroutine) : coroutine(coroutine)
    {
    }
    generator(generator &&other) : coroutine(std::exchange(other.coroutine, nullptr))
    {
    }
    generator(const generator &) = delete;
    ~generator()
    {
        if (coroutine)
            coroutine.destroy();
    }
    bool next()
    {
        coroutine.resume();
        if (coroutine.promise().thrown)
            std::rethrow_exception(coroutine.promise().thrown);
        return !coroutine.done();
    }
    int value() const
    {
        return coroutine.promise().value;
    }

  private:
    handle coroutine;
};

[[gnu::noinline]] static int work(int depth)
{
    volatile int here = depth;
    return depth == 0 ? 0 : work(depth - 1) + (here == depth);
}

static generator walk(int low, int high)
{
    if (low >= high)
        co_return;
    int middle = (low + high) / 2;
    for (generator left = walk(low, middle); left.next();)
        co_yield left.value();
    co_yield work(middle % 7) + middle - middle % 7;
    for (generator right = walk(middle + 1, high); right.next();)
        co_yield right.value();
}

static generator fails_after(int count)
{
    for (int i = 0; i < count; i++)
        co_yield work(i);
    throw count;
}

int main()
{
    int sum = 0, expected = 0, caught = 0;
    for (generator numbers = walk(0, 60); numbers.next();)
        sum += numbers.value() * (expected++ + 1);
    for (int i = 0; i < 20; i++) {
        try {
            for (generator numbers = fails_after(i); numbers.next();)
                work(2);
        } catch (int count) {
            caught += count == i;
        }
    }
    std::printf("sum %d caught %d\n", sum, caught);
    return sum == 71980 && caught == 20 ? 0 : 1;
}
