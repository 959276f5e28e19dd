/* Exceptions that go from the program through a library that dlopen has loaded, are caught there or
 * pass; the library goes and comes again. */
/* truth: -O0 -g; -O2; strip -O2; compiler=clang++ -std=c++17 -O2 */
/* truth-link: -ldl */
#include <cstdio>
#include <dlfcn.h>

using pass_function = int(int (*)(int), int);

static volatile int code;

[[gnu::noinline]] static int fail(int depth)
{
    volatile int level = depth;
    if (depth == 4)
        throw static_cast<int>(code);
    return fail(depth + 1) + level;
}

[[gnu::noinline]] static int attempt(pass_function *pass, int depth)
{
    try {
        return pass(fail, depth);
    } catch (int value) {
        return 1000 + value;
    }
}

int main()
{
    int sum = 0;
    for (int round = 0; round < 3; round++) {
        void *library = dlopen("libthrower.so", RTLD_NOW);
        if (!library) {
            std::printf("%s\n", dlerror());
            return 1;
        }
        auto *pass = reinterpret_cast<pass_function *>(dlsym(library, "pass"));
        auto *count = reinterpret_cast<int (*)()>(dlsym(library, "count_cleaned"));
        for (int i = 0; i < 10; i++) {
            code = i;
            sum += attempt(pass, i);
        }
        sum += count();
        dlclose(library);
    }
    std::printf("sum %d\n", sum);
    /* Even ones are caught below 0 to 8 levels, odd ones by the program. */
    return sum == 3 * (20 + 20 + 5000 + 25 + 55) ? 0 : 1;
}
