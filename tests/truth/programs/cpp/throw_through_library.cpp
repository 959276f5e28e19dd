/* Exceptions through std::sort, std::function, std::for_each and virtual functions. */
/* truth: -O0 -g; -O2; strip -O2; compiler=clang++ -std=c++17 -O2 */
#include <algorithm>
#include <cstdio>
#include <functional>
#include <memory>
#include <vector>

struct shape {
    virtual ~shape() = default;
    virtual int area(int depth) const = 0;
};

struct square : shape {
    int area(int depth) const override
    {
        return depth * depth;
    }
};

struct broken : shape {
    int area(int depth) const override
    {
        throw depth;
    }
};

struct group : shape {
    std::vector<std::unique_ptr<shape>> members;
    int area(int depth) const override
    {
        int sum = 0;
        for (const auto &member : members)
            sum += member->area(depth + 1);
        return sum;
    }
};

[[gnu::noinline]] static int sorted(int limit)
{
    std::vector<int> numbers(80);
    int comparisons = 0;
    for (int i = 0; i < 80; i++)
        numbers[i] = i * 37 % 80;
    try {
        std::sort(numbers.begin(), numbers.end(), [&](int a, int b) {
            if (++comparisons > limit)
                throw comparisons;
            return a < b;
        });
    } catch (int reached) {
        return reached;
    }
    return 0;
}

[[gnu::noinline]] static int functions(int depth)
{
    std::function<int(int)> recursive = [&](int level) -> int {
        if (level == 0)
            throw depth;
        return recursive(level - 1) + 1;
    };
    try {
        return recursive(depth);
    } catch (int value) {
        return value;
    }
}

[[gnu::noinline]] static int groups(int depth)
{
    std::unique_ptr<shape> inner = std::make_unique<broken>();
    for (int i = 0; i < depth; i++) {
        auto outer = std::make_unique<group>();
        outer->members.push_back(std::make_unique<square>());
        outer->members.push_back(std::move(inner));
        inner = std::move(outer);
    }
    try {
        return inner->area(0);
    } catch (int value) {
        return value;
    }
}

int main()
{
    int right = 0;
    for (int i = 1; i < 30; i++)
        right += sorted(3 * i) == 3 * i + 1 && functions(i) == i && groups(i) == i;
    std::printf("right %d\n", right);
    return right == 29 ? 0 : 1;
}
