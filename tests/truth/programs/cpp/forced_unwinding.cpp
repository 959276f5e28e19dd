/* _Unwind_ForcedUnwind called by the program itself, which runs destructors on the way and stops by
 * longjmp at a level of its choice, past others that have called setjmp as well. */
/* truth: -O0 -g; -O2; strip -O2; compiler=clang++ -std=c++17 -O2 */
#include <csetjmp>
#include <cstdint>
#include <cstdio>
#include <unwind.h>

constexpr int LEVELS = 12;

static std::jmp_buf targets[LEVELS];
static uintptr_t places[LEVELS];
static _Unwind_Exception exception;
static volatile int cleaned, landed;

[[gnu::noinline]] static int work(int depth)
{
    volatile int here = depth;
    return depth == 0 ? 0 : work(depth - 1) + (here == depth);
}

struct guard {
    ~guard()
    {
        cleaned = cleaned + (work(2) == 2);
    }
};

static _Unwind_Reason_Code stop(int, _Unwind_Action, _Unwind_Exception_Class, _Unwind_Exception *,
                                _Unwind_Context *context, void *goal)
{
    auto level = reinterpret_cast<uintptr_t>(goal);
    if (_Unwind_GetCFA(context) > places[level])
        std::longjmp(targets[level], 1);
    return _URC_NO_REASON;
}

static int descend(int level, int goal);

[[gnu::noinline]] static int hold(int level, int goal)
{
    guard here;
    volatile int kept = level;
    return descend(level, goal) + (kept == level) - 1;
}

[[gnu::noinline]] static int descend(int level, int goal)
{
    volatile int here = level;
    if (level == LEVELS) {
        _Unwind_ForcedUnwind(&exception, stop, reinterpret_cast<void *>(uintptr_t(goal)));
        return -1000;
    }
    places[level] = reinterpret_cast<uintptr_t>(__builtin_frame_address(0));
    if (setjmp(targets[level]) != 0) {
        landed = landed + 1;
        return here;
    }
    return hold(level + 1, goal) + here - here;
}

int main()
{
    int sum = 0;
    for (int i = 0; i < 2 * LEVELS; i++)
        sum += descend(0, i % LEVELS);
    std::printf("sum %d landed %d cleaned %d\n", sum, static_cast<int>(landed),
                static_cast<int>(cleaned));
    return sum == LEVELS * (LEVELS - 1) && landed == 2 * LEVELS && cleaned == 2 * LEVELS * LEVELS
               ? 0
               : 1;
}
