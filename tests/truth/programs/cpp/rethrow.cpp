/* Exceptions that every second frame catches and throws again, unchanged or as another one. */
/* truth: -O0 -g; -O2; strip -O2; compiler=clang++ -std=c++17 -O2 */
#include <cstdio>
#include <stdexcept>
#include <string>

static volatile int caught;

[[gnu::noinline]] static int dive(int depth);

[[gnu::noinline]] static int passes_on(int depth)
{
    try {
        return dive(depth - 1) + 1;
    } catch (const std::exception &) {
        caught = caught + 1;
        throw;
    }
}

[[gnu::noinline]] static int changes(int depth)
{
    try {
        return dive(depth - 1) + 1;
    } catch (const std::runtime_error &error) {
        caught = caught + 1;
        throw std::logic_error(std::string(error.what()) + "l");
    } catch (const std::logic_error &error) {
        caught = caught + 1;
        throw std::runtime_error(std::string(error.what()) + "r");
    }
}

[[gnu::noinline]] static int dive(int depth)
{
    volatile int here = depth;
    if (depth <= 0)
        throw std::runtime_error("x");
    if (depth % 4 == 1)
        return passes_on(depth) + here;
    if (depth % 4 == 3)
        return changes(depth) + here;
    return dive(depth - 1) + here;
}

int main()
{
    int lengths = 0;
    for (int i = 0; i < 40; i++) {
        try {
            dive(i);
        } catch (const std::exception &error) {
            lengths += static_cast<int>(std::string(error.what()).size());
        }
    }
    std::printf("lengths %d caught %d\n", lengths, caught);
    return lengths == 230 && caught == 400 ? 0 : 1;
}
