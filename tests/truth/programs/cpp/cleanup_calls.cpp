/* Destructors on an exception's way: cleanup pads with calls, loops and recursion in them. */
/* truth: -O0 -g; -O2; -O2 -static; strip -O2; compiler=clang++ -std=c++17 -O0; compiler=clang++ -std=c++17 -O2 */
#include <cstdio>

static volatile int cleaned;

[[gnu::noinline]] static int work(int depth)
{
    volatile int here = depth;
    return depth == 0 ? 0 : work(depth - 1) + (here == depth);
}

struct guard {
    explicit guard(int amount) : amount(amount)
    {
    }
    guard(const guard &) = delete;
    guard &operator=(const guard &) = delete;
    ~guard()
    {
        cleaned = cleaned + work(amount);
    }
    int amount;
};

[[gnu::noinline]] static int dive(int depth)
{
    guard first(depth % 5);
    if (depth == 0)
        throw 1;
    guard second(2);
    guard array[2] = {guard(1), guard(3)};
    return dive(depth - 1) + first.amount + second.amount + array[0].amount;
}

int main()
{
    int caught = 0;
    for (int depth = 0; depth < 40; depth++) {
        try {
            guard outside(1);
            dive(depth);
        } catch (int value) {
            caught += value;
        }
    }
    std::printf("caught %d cleaned %d\n", caught, cleaned);
    return caught == 40 && cleaned == 6280 ? 0 : 1;
}
