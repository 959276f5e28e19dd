/* Calls through multiple and virtual inheritance: this-adjusting and covariant thunks, pointers to
 * members. */
/* truth: -O0 -g; -O2; -O2 -static; strip -O2; compiler=clang++ -std=c++17 -O2 */
#include <cstdio>

struct left {
    virtual ~left() = default;
    virtual int value(int depth) = 0;
    virtual left *self()
    {
        return this;
    }
    long padding = 1;
};

struct right {
    virtual ~right() = default;
    virtual int value(int depth) = 0;
    virtual right *self()
    {
        return this;
    }
    long padding = 2;
};

struct common {
    virtual ~common() = default;
    virtual int shared(int depth)
    {
        return depth;
    }
    long padding = 3;
};

struct upper : virtual common {
    long upper_padding = 4;
    int shared(int depth) override
    {
        return depth <= 0 ? 1 : common::shared(depth) + 1;
    }
};

struct both : left, right, upper {
    int value(int depth) override;
    both *self() override
    {
        return this;
    }
    int shared(int depth) override
    {
        return upper::shared(depth) + 10;
    }
};

[[gnu::noinline]] static int through_right(right *object, int depth)
{
    return object->self()->value(depth);
}

[[gnu::noinline]] static int through_left(left *object, int depth)
{
    return object->self()->value(depth);
}

[[gnu::noinline]] static int through_common(common *object, int depth)
{
    return object->shared(depth);
}

int both::value(int depth)
{
    if (depth <= 0)
        return 0;
    int below = depth % 2 ? through_right(this, depth - 1) : through_left(this, depth - 1);
    return below + through_common(this, depth) - depth - 10;
}

int main()
{
    both object;
    int (right::*volatile member)(int) = &right::value;
    right *as_right = &object;
    int sum = 0;
    for (int i = 0; i < 50; i++)
        sum += through_left(&object, i) + (as_right->*member)(i);
    std::printf("sum %d\n", sum);
    return sum == 2 * 1225 ? 0 : 1;
}
