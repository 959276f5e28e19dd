/* An exception meets noexcept deep in a recursion: std::terminate is called with all frames still
 * there, and its handler leaves by siglongjmp, or ends the program. */
/* truth: -O0 -g; -O2; strip -O2; compiler=clang++ -std=c++17 -O2 */
#include <csetjmp>
#include <cstdio>
#include <cstdlib>
#include <exception>

static std::jmp_buf target;
static volatile int terminated, left;

[[gnu::noinline]] static int work(int depth)
{
    volatile int here = depth;
    return depth == 0 ? 0 : work(depth - 1) + (here == depth);
}

[[noreturn]] static void leave()
{
    terminated = terminated + (work(4) == 4);
    if (left < 8)
        std::longjmp(target, 1);
    std::printf("terminated %d\n", static_cast<int>(terminated));
    std::fflush(stdout);
    std::_Exit(terminated == 9 ? 0 : 1);
}

[[gnu::noinline]] static int fail(int depth)
{
    volatile int here = depth;
    if (depth == 0)
        throw 5;
    return fail(depth - 1) + here;
}

[[gnu::noinline]] static int keep_inside(int depth) noexcept
{
    volatile int here = depth;
    if (depth > 0)
        return keep_inside(depth - 1) + here;
    return fail(left + 3);
}

[[gnu::noinline]] static int attempt(int depth)
{
    if (setjmp(target) != 0)
        return 1;
    try {
        return keep_inside(depth);
    } catch (int) {
        return 100;
    }
}

int main()
{
    std::set_terminate(leave);
    for (int i = 0; i < 9; i++)
        left = left + attempt(i);
    return 1;
}
