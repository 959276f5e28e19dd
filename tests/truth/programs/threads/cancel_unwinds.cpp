/* pthread_cancel and pthread_exit of C++ threads: destructors and catch (...) run on the way out.
 */
/* truth: -O0 -g -pthread; -O2 -pthread; strip -O2 -pthread */
#include <atomic>
#include <cstdio>
#include <pthread.h>
#include <sched.h>

static std::atomic<int> ready, canceling, destroyed, caught;

struct guard {
    explicit guard(int amount) : amount(amount)
    {
    }
    guard(const guard &) = delete;
    guard &operator=(const guard &) = delete;
    ~guard()
    {
        destroyed += amount;
    }
    int amount;
};

[[gnu::noinline]] static void end_thread(bool by_exit)
{
    if (by_exit)
        pthread_exit(nullptr);
    ready = 1;
    while (!canceling)
        sched_yield();
    pthread_testcancel();
}

[[gnu::noinline]] static int dive(int depth, bool by_exit)
{
    guard here(1);
    if (depth == 0) {
        end_thread(by_exit);
        return 0;
    }
    try {
        return dive(depth - 1, by_exit) + here.amount;
    } catch (...) {
        caught++;
        throw;
    }
}

static void *run(void *argument)
{
    int depth = *static_cast<int *>(argument);
    dive(depth, depth % 2 == 1);
    destroyed += 1000000;
    return nullptr;
}

int main()
{
    for (int depth = 0; depth < 20; depth++) {
        pthread_t thread;
        ready = canceling = 0;
        if (pthread_create(&thread, nullptr, run, &depth) != 0)
            return 1;
        if (depth % 2 == 0) {
            while (!ready)
                sched_yield();
            pthread_cancel(thread);
            canceling = 1;
        }
        pthread_join(thread, nullptr);
    }
    std::printf("destroyed %d caught %d\n", destroyed.load(), caught.load());
    return destroyed == 210 && caught == 190 ? 0 : 1;
}
