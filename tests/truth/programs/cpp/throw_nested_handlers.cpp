/* Handlers of SIGFPE and SIGUSR1 throw, from deep inside and from handlers that interrupt each
 * other; the outer handler catches, or lets pass. */
/* truth: -O0 -g -fnon-call-exceptions; -O2 -fnon-call-exceptions; strip -O2 -fnon-call-exceptions */
#include <csignal>
#include <cstdio>

/* Declared as one that throws nothing. */
static int (*volatile send_signal)(int) = std::raise;
static volatile int zero, caught_in_handler, cleaned;
static volatile bool pass_on;

struct guard {
    ~guard()
    {
        cleaned = cleaned + 1;
    }
};

[[gnu::noinline]] static void refuse(int number, int depth)
{
    guard here;
    volatile int level = depth;
    if (depth == 0)
        throw number;
    refuse(number, depth - 1);
    cleaned = cleaned + level;
}

/* qemu-user before 8.1 enters a handler with a stack that is 8 bytes off. */
[[gnu::force_align_arg_pointer]] static void inner(int number)
{
    refuse(number, 2);
}

[[gnu::noinline]] static int divide(int depth)
{
    guard here;
    volatile int level = depth;
    if (depth == 0)
        return 5 / zero;
    return divide(depth - 1) + level;
}

[[gnu::force_align_arg_pointer]] static void outer(int number)
{
    guard here;
    try {
        divide(number % 3);
    } catch (int) {
        if (pass_on)
            throw;
        caught_in_handler = caught_in_handler + 1;
    }
}

[[gnu::noinline]] static int dive(int depth)
{
    guard here;
    volatile int level = depth;
    if (depth == 0)
        return send_signal(SIGUSR1);
    return dive(depth - 1) + (level == depth);
}

[[gnu::noinline]] static int attempt(int depth)
{
    try {
        return depth % 3 ? dive(depth) : divide(depth);
    } catch (int number) {
        return 100 * number;
    }
}

int main()
{
    struct sigaction action = {};
    int sum = 0;
    action.sa_flags = SA_NODEFER;
    action.sa_handler = inner;
    sigaction(SIGFPE, &action, nullptr);
    action.sa_handler = outer;
    sigaction(SIGUSR1, &action, nullptr);
    for (int i = 0; i < 18; i++) {
        pass_on = i % 2;
        sum += attempt(i);
    }
    std::printf("sum %d caught %d cleaned %d\n", sum, static_cast<int>(caught_in_handler),
                static_cast<int>(cleaned));
    return sum == 12 * 100 * SIGFPE + (2 + 4 + 8 + 10 + 14 + 16) && caught_in_handler == 6 ? 0 : 1;
}
