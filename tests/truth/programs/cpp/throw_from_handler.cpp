/* Exceptions thrown by the handler of a fault, caught in the function that faulted or above it. */
/* truth: -O0 -g -fnon-call-exceptions; -O2 -fnon-call-exceptions; strip -O2 -fnon-call-exceptions */
#include <csignal>
#include <cstdio>

static int *volatile nowhere;
static volatile int cleaned;

struct guard {
    guard() = default;
    guard(const guard &) = delete;
    guard &operator=(const guard &) = delete;
    ~guard()
    {
        cleaned = cleaned + 1;
    }
};

/* qemu-user before 8.1 enters a handler with a stack that is 8 bytes off. */
[[gnu::force_align_arg_pointer]] static void handle(int number)
{
    throw number;
}

[[gnu::noinline]] static int dive(int depth)
{
    guard here;
    volatile int level = depth;
    if (depth == 0)
        return *nowhere;
    return dive(depth - 1) + level;
}

[[gnu::noinline]] static int attempt(int depth)
{
    try {
        return dive(depth);
    } catch (int number) {
        return number;
    }
}

int main()
{
    struct sigaction action = {};
    action.sa_handler = handle;
    action.sa_flags = SA_NODEFER;
    sigaction(SIGSEGV, &action, nullptr);
    int right = 0;
    for (int i = 0; i < 40; i++)
        right += attempt(i) == SIGSEGV;
    std::printf("right %d cleaned %d\n", right, cleaned);
    return right == 40 && cleaned == 820 ? 0 : 1;
}
