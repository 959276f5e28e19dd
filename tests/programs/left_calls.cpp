/* Calls chosen() 300 times, from main() and from a function between them: a third of the calls is left by an exception, a tenth by
 * longjmp, and the others return. The first one is left. Prints how many ended in which way. */
#include <csetjmp>
#include <cstdio>
#include <stdexcept>

static std::jmp_buf before;
static volatile long sum;

struct cleaned_up {
    ~cleaned_up() { sum = sum + 1; }
};

__attribute__((noinline)) static int inner(int number)
{
    if (number % 3 == 0)
        throw std::runtime_error("left");
    if (number % 10 == 1)
        std::longjmp(before, 1);
    return number;
}

__attribute__((noinline)) int chosen(int number)
{
    cleaned_up guard;
    int result = inner(number);
    sum = sum + result;
    return result + 1;
}

__attribute__((noinline)) static int between(int number)
{
    int result = chosen(number);
    sum = sum + result;
    return result;
}

__attribute__((noinline)) static void compute()
{
    for (int i = 0; i < 100; i++)
        sum = sum + i;
}

int main()
{
    volatile int returned = 0, thrown = 0, jumped = 0;
    for (volatile int i = 0; i < 300; i = i + 1) {
        if (setjmp(before)) {
            jumped = jumped + 1;
            continue;
        }
        try {
            if (i % 2 ? between(i) : chosen(i))
                returned = returned + 1;
        } catch (const std::exception &) {
            thrown = thrown + 1;
        }
        compute();
    }
    std::printf("%d returned, %d thrown, %d jumped\n", returned, thrown, jumped);
}
