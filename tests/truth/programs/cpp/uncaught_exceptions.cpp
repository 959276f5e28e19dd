/* std::uncaught_exceptions: guards that roll back when they go because of an exception, and commit
 * otherwise. */
/* truth: -O0 -g; -O2; strip -O2; compiler=clang++ -std=c++17 -O2 */
#include <cstdio>
#include <exception>

static volatile int committed, rolled_back;

[[gnu::noinline]] static void commit(int amount)
{
    committed = committed + amount;
}

[[gnu::noinline]] static void roll_back(int amount)
{
    rolled_back = rolled_back + amount;
}

struct transaction {
    transaction() : before(std::uncaught_exceptions())
    {
    }
    transaction(const transaction &) = delete;
    transaction &operator=(const transaction &) = delete;
    ~transaction()
    {
        if (std::uncaught_exceptions() > before)
            roll_back(1);
        else
            commit(1);
    }
    int before;
};

[[gnu::noinline]] static int run(int depth, bool fails);

struct nested_work {
    nested_work() = default;
    nested_work(const nested_work &) = delete;
    nested_work &operator=(const nested_work &) = delete;
    ~nested_work()
    {
        run(3, false);
    }
};

[[gnu::noinline]] static int run(int depth, bool fails)
{
    transaction here;
    if (depth == 0) {
        nested_work *none = nullptr;
        if (fails)
            throw none;
        return 0;
    }
    if (depth == 7) {
        nested_work during;
        return run(depth - 1, fails) + 1;
    }
    return run(depth - 1, fails) + 1;
}

int main()
{
    int caught = 0;
    for (int i = 0; i < 60; i++) {
        try {
            run(i % 12, i % 2 == 0);
        } catch (nested_work *) {
            caught++;
        }
    }
    std::printf("caught %d committed %d rolled back %d\n", caught, committed, rolled_back);
    return caught == 30 && committed == 310 && rolled_back == 180 ? 0 : 1;
}
