/* Exceptions out of constructors: members and bases built so far are destroyed;
 * function-try-blocks; arrays; new. */
/* truth: -O0 -g; -O2; strip -O2; compiler=clang++ -std=c++17 -O2 */
#include <cstdio>

static volatile int alive, translated;

struct part {
    explicit part(int value)
    {
        if (value % 5 == 4)
            throw value;
        alive = alive + 1;
    }
    part(const part &) = delete;
    part &operator=(const part &) = delete;
    ~part()
    {
        alive = alive - 1;
    }
};

struct base {
    explicit base(int value) : first(value), second(value + 1)
    {
    }
    part first, second;
};

struct whole : base {
    explicit whole(int value)
    try : base(value), third(value + 2) {
        if (value % 7 == 3)
            throw -value;
    } catch (int thrown) {
        translated = translated + 1;
        throw static_cast<long>(thrown);
    }
    part third;
};

struct counted {
    counted() : inner(next++)
    {
    }
    part inner;
    static int next;
};
int counted::next;

[[gnu::noinline]] static int build(int value)
try {
    whole object(value);
    whole *second = new whole(value + 5);
    delete second;
    return 0;
} catch (long) {
    return 1;
}

[[gnu::noinline]] static int build_array(int first)
{
    counted::next = first;
    try {
        counted array[4];
        return alive == 4 ? 0 : 100;
    } catch (int) {
        return 1;
    }
}

int main()
{
    int failed = 0, arrays = 0;
    for (int i = 0; i < 70; i++) {
        failed += build(i);
        arrays += build_array(i);
    }
    std::printf("failed %d arrays %d translated %d alive %d\n", failed, arrays, translated, alive);
    return failed == 50 && translated == failed && arrays == 56 && alive == 0 ? 0 : 1;
}
