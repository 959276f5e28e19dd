/* C++20 coroutines: tasks that await tasks, some of which suspend until a queue resumes them from
 * far below. */
/* truth: -O0 -g -std=c++20; -O2 -std=c++20; strip -O2 -std=c++20 */
#include <coroutine>
#include <cstdio>
#include <deque>
#include <exception>
#include <utility>

static std::deque<std::coroutine_handle<>> queue;

class task
{
  public:
    struct promise_type {
        int value = 0;
        std::exception_ptr thrown;
        std::coroutine_handle<> waiting = std::noop_coroutine();
        task get_return_object()
        {
            return task(handle::from_promise(*this));
        }
        std::suspend_always initial_suspend()
        {
            return {};
        }
        auto final_suspend() noexcept
        {
            struct resume_waiting {
                bool await_ready() const noexcept
                {
                    return false;
                }
                std::coroutine_handle<>
                await_suspend(std::coroutine_handle<promise_type> self) const noexcept
                {
                    return self.promise().waiting;
                }
                void await_resume() const noexcept
                {
                }
            };
            return resume_waiting{};
        }
        void return_value(int result)
        {
            value = result;
        }
        void unhandled_exception()
        {
            thrown = std::current_exception();
        }
    };
    using handle = std::coroutine_handle<promise_type>;

    explicit task(handle coroutine) : coroutine(coroutine)
    {
    }
    task(task &&other) : coroutine(std::exchange(other.coroutine, nullptr))
    {
    }
    task(const task &) = delete;
    ~task()
    {
        if (coroutine)
            coroutine.destroy();
    }
    bool await_ready() const
    {
        return false;
    }
    std::coroutine_handle<> await_suspend(std::coroutine_handle<> awaiting)
    {
        coroutine.promise().waiting = awaiting;
        return coroutine;
    }
    int await_resume() const
    {
        if (coroutine.promise().thrown)
            std::rethrow_exception(coroutine.promise().thrown);
        return coroutine.promise().value;
    }
    handle coroutine;
};

struct later {
    bool await_ready() const
    {
        return false;
    }
    void await_suspend(std::coroutine_handle<> awaiting) const
    {
        queue.push_back(awaiting);
    }
    void await_resume() const
    {
    }
};

static task sum_to(int number)
{
    if (number == 0)
        co_return 0;
    if (number % 5 == 0)
        co_await later{};
    if (number == 13)
        throw number;
    co_return number + co_await sum_to(number - 1);
}

static task forgiving(int number)
{
    int sum = 0;
    try {
        sum = co_await sum_to(number);
    } catch (int thrown) {
        sum = thrown;
    }
    co_return sum + 1;
}

static void run_queue()
{
    while (!queue.empty()) {
        std::coroutine_handle<> next = queue.front();
        queue.pop_front();
        next.resume();
    }
}

int main()
{
    int right = 0;
    for (int i = 0; i < 40; i++) {
        task first = forgiving(i), second = forgiving(i / 2);
        first.coroutine.resume();
        second.coroutine.resume();
        run_queue();
        int expected = i >= 13 ? 14 : i * (i + 1) / 2 + 1;
        right +=
            first.coroutine.done() && second.coroutine.done() && first.await_resume() == expected;
    }
    std::printf("right %d\n", right);
    return right == 40 ? 0 : 1;
}
