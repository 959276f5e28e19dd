// Throws exceptions that are caught, cleaned up after, passed on, thrown again, in one function and
// through several. landing_pad_log.c says where each goes on.
#include <cstdio>
#include <stdexcept>
#include <string>

#define APART __attribute__((noinline))

static int cleaned;

struct Guard {
    int value;
    APART ~Guard() { cleaned += value; }
};

APART int leaf(int kind)
{
    if (kind == 1)
        throw kind;
    if (kind == 2)
        throw std::runtime_error("two");
    if (kind == 3)
        throw std::string("three");
    return kind;
}

APART int plain(int kind)
{
    return leaf(kind) + 1;
}

APART int guarded(int kind)
{
    Guard guard{kind + 1};
    int sum = plain(kind);
    Guard second{2};
    return sum + leaf(kind ? kind : 0);
}

APART int nested(int kind)
{
    try {
        try {
            return guarded(kind);
        } catch (int number) {
            return number + leaf(2);
        }
    } catch (const std::runtime_error &error) {
        return plain(0) + error.what()[0];
    }
}

__attribute__((cold, noinline)) void report(int sum)
{
    std::printf("%d\n", sum);
}

APART int again(int kind)
{
    try {
        return nested(kind);
    } catch (...) {
        report(kind);
        throw;
    }
}

template <int Depth> APART int deep(int kind)
{
    Guard guard{Depth};
    std::string text(Depth, 'x');
    int sum = deep<Depth - 1>(kind) + static_cast<int>(text.size());
    return sum + leaf(kind == 9 ? 1 : 0);
}

template <> APART int deep<0>(int kind)
{
    return again(kind);
}

int main()
{
    int sum = 0;
    for (int kind = 0; kind < 10; kind++) {
        try {
            sum += deep<12>(kind);
        } catch (const std::string &text) {
            sum += static_cast<int>(text.size());
        } catch (int number) {
            sum += number;
        }
    }
    std::printf("%d %d\n", sum, cleaned);
    return 0;
}
