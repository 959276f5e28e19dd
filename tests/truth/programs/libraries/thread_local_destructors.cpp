/* Thread-local objects, constructed at first use and destroyed when their thread ends; static ones
 * at exit. */
/* truth: -O0 -g -pthread; -O2 -pthread; -O2 -static -pthread; strip -O2 -pthread */
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <unistd.h>

static std::atomic<int> constructed, destroyed;

[[gnu::noinline]] static int work(int depth)
{
    volatile int here = depth;
    return depth == 0 ? 0 : work(depth - 1) + (here == depth);
}

struct judge {
    ~judge()
    {
        if (constructed != 5 * 7 || destroyed != 5 * 7)
            _exit(1);
    }
};
static judge last;

struct record {
    explicit record(int amount) : amount(work(amount))
    {
        constructed += this->amount;
    }
    ~record()
    {
        destroyed += work(amount);
    }
    int amount;
};

static thread_local record first(2);

[[gnu::noinline]] static record &second()
{
    static thread_local record object(5);
    return object;
}

[[gnu::noinline]] static int dive(int depth)
{
    volatile int here = depth;
    return depth == 0 ? first.amount + second().amount : dive(depth - 1) + (here != depth);
}

int main()
{
    std::atomic<int> sum = 0;
    for (int i = 0; i < 2; i++) {
        std::thread one([&] { sum += dive(50); }), two([&] { sum += dive(10); });
        one.join();
        two.join();
    }
    sum += dive(20);
    std::printf("sum %d\n", sum.load());
    std::exit(sum == 35 ? 0 : 1);
}
