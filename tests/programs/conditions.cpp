// conditions ROUNDS: branches as C++ has them, some of which never run, without exceptions and switches: for tests of coverage.
#include <cstdlib>

namespace shapes
{
struct Square {
    int side;
    explicit Square(int side) noexcept
        : side(side)
    {
    }
    ~Square()
    {
        if (side < 0)
            std::abort();
    }
    int area() const noexcept { return side > 2 ? side * side : 0; }
};

template <class Number>
static Number most(Number left, Number right) noexcept
{
    return left < right ? right : left;
}

static int never(int number) noexcept
{
    if (number > 3)
        return 1;
    return 2;
}
}

int main(int argc, char **argv)
{
    int rounds = argc > 1 ? std::atoi(argv[1]) : 5;
    int total = 0;
    for (int round = 0; round < rounds; round++) {
        shapes::Square square(round);
        if (round > 100 && (square.area() > 7 || square.side == 3))
            total += shapes::never(round);
        total += shapes::most(square.area(), total) % 7;
        total += (int)shapes::most<double>(round, total);
    }
    while (total-- > 0 && rounds < 50)
        rounds += total & 1 ? 1 : 3;
    return total < 0 ? 0 : 1;
}
