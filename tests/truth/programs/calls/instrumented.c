/* Functions whose entry and exit call hooks, which look at return addresses. */
/* truth: -O0 -g -finstrument-functions; -O2 -finstrument-functions; -O2 -fpatchable-function-entry=5,2 -finstrument-functions; compiler=clang -O2 -finstrument-functions */
#include <stdio.h>

static volatile int depth, deepest, entered, left;

__attribute__((no_instrument_function)) void __cyg_profile_func_enter(void *function, void *caller);
__attribute__((no_instrument_function)) void __cyg_profile_func_exit(void *function, void *caller);

void __cyg_profile_func_enter(void *function, void *caller)
{
    entered += function != caller;
    depth++;
    if (depth > deepest)
        deepest = depth;
}

void __cyg_profile_func_exit(void *function, void *caller)
{
    left += function != caller;
    depth--;
}

__attribute__((noinline)) static int leaf(int value)
{
    return value + 1;
}

__attribute__((noinline)) static int tree(int level)
{
    return level <= 0 ? leaf(level) : tree(level - 1) + tree(level - 2) + leaf(level);
}

__attribute__((noinline)) static int in_tail(int level)
{
    return tree(level);
}

int main(void)
{
    int value = in_tail(14);
    int balanced = entered == left + 1 && depth == 1;
    printf("value %d entered %d deepest %d\n", value, entered, deepest);
    return value == 4163 && balanced && deepest == 18 ? 0 : 1;
}
