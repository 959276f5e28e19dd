/* std::call_once whose function throws and is tried again; static locals whose initialization
 * throws. */
/* truth: -O0 -g -pthread; -O2 -pthread; -O2 -static -pthread; strip -O2 -pthread */
#include <cstdio>
#include <mutex>
#include <thread>

static int attempts, successes;

[[gnu::noinline]] static void initialize(int depth, int needed)
{
    volatile int here = depth;
    if (depth > 0)
        initialize(depth - 1, needed);
    else if (++attempts < needed)
        throw attempts;
    successes = successes + (here == 0);
}

[[gnu::noinline]] static int tries_of_once(int needed)
{
    std::once_flag once;
    attempts = 0;
    for (int tries = 1;; tries++) {
        try {
            std::call_once(once, initialize, needed, needed);
            return tries;
        } catch (int attempt) {
            if (attempt != tries)
                return -1;
        }
    }
}

struct difficult {
    explicit difficult(int needed)
    {
        initialize(3, needed);
    }
};

[[gnu::noinline]] static int tries_of_static()
{
    attempts = 0;
    for (int tries = 1;; tries++) {
        try {
            static difficult object(5);
            (void)object;
            return tries;
        } catch (int) {
        }
    }
}

int main()
{
    int right = 0;
    for (int needed = 1; needed <= 10; needed++) {
        std::thread thread([&] { right += tries_of_once(needed) == needed; });
        thread.join();
    }
    int tries = tries_of_static();
    std::printf("right %d tries %d successes %d\n", right, tries, successes);
    return right == 10 && tries == 5 && successes == 11 ? 0 : 1;
}
